"""onnxruntime-cann: values on the device, and models whose nodes run on the host."""

import numpy
import onnx
import onnxruntime
from checks import check, finish
from onnx import TensorProto, helper

MIB = 1 << 20
# Node by node: the alternative compiles whole graphs, which needs operators.
PROVIDERS = [("CANNExecutionProvider", {"enable_cann_graph": "0"}), "CPUExecutionProvider"]
_random = numpy.random.default_rng(20260822)


def random_array(count, dtype=numpy.float32):
    """Random numbers, the same in every run."""
    if dtype == numpy.float32:
        return _random.standard_normal(count, dtype=dtype)
    return _random.integers(0, 2**31 - 1, count).astype(dtype)


def session(nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "model", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=PROVIDERS)


def nonzero():
    return session(
        [helper.make_node("NonZero", ["x"], ["y"])],
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, [1, None])],
    )


@check("import, with the provider")
def _():
    assert "CANNExecutionProvider" in onnxruntime.get_available_providers()


@check("a session, which sets the device")
def _():
    assert nonzero().get_providers()[0] == "CANNExecutionProvider"


@check("OrtValue round trips")
def _():
    for dtype in (numpy.float32, numpy.int32, numpy.int64, numpy.uint8):
        for count in (1, 1000, MIB + 3):
            data = random_array(count, dtype)
            value = onnxruntime.OrtValue.ortvalue_from_numpy(data, "cann", 0)
            assert value.device_name() == "cann"
            back = value.numpy()
            assert back.dtype == data.dtype and back.tobytes() == data.tobytes(), (dtype, count)


@check("OrtValue: many at once")
def _():
    datas = [random_array(MIB + n) for n in range(16)]
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(data, "cann", 0) for data in datas]
    for value, data in zip(values, datas):
        assert value.numpy().tobytes() == data.tobytes()


@check("a model whose node falls back to the host")
def _():
    model = nonzero()
    assert model.get_providers()[0] == "CANNExecutionProvider"
    for _ in range(3):
        data = random_array(MIB + 3)
        data[_random.integers(0, data.size, data.size // 2)] = 0
        (got,) = model.run(None, {"x": data})
        assert numpy.array_equal(got[0], numpy.flatnonzero(data))


@check("a model fed from the device")
def _():
    model = nonzero()
    data = random_array(MIB + 3)
    data[::3] = 0
    binding = model.io_binding()
    binding.bind_ortvalue_input("x", onnxruntime.OrtValue.ortvalue_from_numpy(data, "cann", 0))
    binding.bind_output("y", "cpu")
    model.run_with_iobinding(binding)
    (got,) = binding.copy_outputs_to_cpu()
    assert numpy.array_equal(got[0], numpy.flatnonzero(data))


@check("sessions come and go")
def _():
    for _ in range(20):
        data = random_array(1000)
        (got,) = nonzero().run(None, {"x": data})
        assert numpy.array_equal(got[0], numpy.flatnonzero(data))


@check("an operator is refused by name")
def _():
    try:
        model = session(
            [helper.make_node("Add", ["x", "x"], ["y"])],
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1024])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1024])],
        )
        data = random_array(1024)
        (got,) = model.run(None, {"x": data})
    except Exception as error:  # noqa: BLE001 - its type is the program's choice
        assert "Add" in str(error) or "not operators" in str(error), error
    else:
        # The program may have chosen the host; then the result is right.
        assert numpy.array_equal(got, data + data), "a silent success"


finish()
