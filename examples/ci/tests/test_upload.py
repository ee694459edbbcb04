"""The same from Python, with the fixture of the pytest plugin."""

import os

import cannery

SIZE = 1 << 20


def test_bytes_come_back(npu):
    sent = os.urandom(SIZE)
    with cannery.CachedBuffer.of(sent) as buffer:
        buffer.flush()
        assert buffer.tobytes() == sent


def test_queued_copies(npu):
    assert npu.devices == 2
    sent = os.urandom(SIZE)
    with cannery.Stream() as stream, cannery.PinnedBuffer.of(sent) as there, cannery.PinnedBuffer(SIZE) as back:
        with cannery.DeviceBuffer(SIZE) as device:
            stream.copy(device, there)
            stream.copy(back, device)
            assert back.tobytes() == sent
