/*
 * Processes that use a queue or a channel are killed: whoever waits for them gets
 * a code in time, nothing is lost but what they held, and nothing remains.
 *
 * run: CANNERY_LOG=error
 */
#define _GNU_SOURCE
#include "queue_processes.h"

#define SOON 3.0 /* seconds */

/* Attaches, says so, and is busy or waits until it is killed. */
static void waits(void)
{
    uint32_t queue = hear(from_parent), rights;
    size_t size;
    unsigned seed;

    use_device();
    OK(acltdtAttachQueue(queue, -1, &rights));
    tell(to_parent, 1);
    for (;;) {
        get_bytes(queue, &size, &seed, -1);
    }
}

static void peer_killed(void)
{
    struct child child = start(waits);
    uint32_t queue;
    size_t size;
    unsigned seed;
    double began;

    use_device();
    OK(acltdtCreateQueue(NULL, &queue));
    tell(child.out, queue);
    OK(acltdtGrantQueue(queue, child.pid, ACL_TDT_QUEUE_PERMISSION_DEQUEUE, 0));
    SAME(1, hear(child.in));
    kill_now(child);
    began = seconds_now();
    CODE(IPC_BROKEN, get_bytes(queue, &size, &seed, -1));
    HOLDS(seconds_now() - began < SOON);
    /* It was told once; the queue goes on. */
    CODE(QUEUE_EMPTY, get_bytes(queue, &size, &seed, 150));
    OK(put_bytes(queue, MIB, 5, 1));
    OK(get_bytes(queue, &size, &seed, 1));
    OK(acltdtDestroyQueue(queue));
    SAME(0, files());
}

/* Makes a queue with messages for its parent, and waits to be killed. */
static void owns(void)
{
    uint32_t queue;
    int i;

    use_device();
    OK(acltdtCreateQueue(NULL, &queue));
    OK(acltdtGrantQueue(queue, getppid(), ACL_TDT_QUEUE_PERMISSION_DEQUEUE | ACL_TDT_QUEUE_PERMISSION_ENQUEUE, 0));
    for (i = 0; i < 3; i++) {
        OK(put_bytes(queue, MIB, i, 1));
    }
    tell(to_parent, queue);
    for (;;) {
        pause();
    }
}

static void owner_killed(void)
{
    struct child child = start(owns);
    uint32_t queue, rights;
    size_t size;
    unsigned seed;
    double began;

    queue = hear(child.in);
    OK(acltdtAttachQueue(queue, 1000, &rights));
    OK(get_bytes(queue, &size, &seed, -1));
    kill_now(child);
    /* What it sent is still there. */
    OK(get_bytes(queue, &size, &seed, -1));
    SAME(1, seed);
    OK(get_bytes(queue, &size, &seed, -1));
    SAME(2, seed);
    began = seconds_now();
    CODE(IPC_BROKEN, get_bytes(queue, &size, &seed, -1));
    HOLDS(seconds_now() - began < SOON);
    CODE(IPC_BROKEN, put_bytes(queue, 64, 1, -1));
}

/* Waits for room in a channel that nobody empties. */
static void fills(void)
{
    acltdtChannelHandle *channel;
    acltdtDataset *dataset;

    use_device();
    channel = acltdtCreateChannelWithCapacity(0, "filled", 2);
    dataset = acltdtCreateDataset();
    HOLDS(channel != NULL && dataset != NULL);
    OK(acltdtSendTensor(channel, dataset, -1));
    OK(acltdtSendTensor(channel, dataset, -1));
    tell(to_parent, 1);
    acltdtSendTensor(channel, dataset, -1);
    for (;;) {
        pause();
    }
}

static void channel_killed(void)
{
    acltdtChannelHandle *channel = acltdtCreateChannelWithCapacity(0, "filled", 2);
    struct child child = start(fills);
    double began;

    HOLDS(channel != NULL);
    SAME(1, hear(child.in));
    sleep_ms(50);
    kill_now(child);
    OK(acltdtReceiveTensor(channel, acltdtCreateDataset(), -1));
    OK(acltdtReceiveTensor(channel, acltdtCreateDataset(), -1));
    began = seconds_now();
    CODE(IPC_BROKEN, acltdtReceiveTensor(channel, acltdtCreateDataset(), -1));
    HOLDS(seconds_now() - began < SOON);
    CODE(QUEUE_EMPTY, acltdtReceiveTensor(channel, acltdtCreateDataset(), 150));
    OK(acltdtDestroyChannel(channel));
}

/* Uses two queues as fast as it can until it is killed. */
static void hurries(void)
{
    uint32_t in = hear(from_parent), out = hear(from_parent), rights;
    size_t size;
    unsigned seed, number = 0;

    use_device();
    OK(acltdtAttachQueue(in, -1, &rights));
    OK(acltdtAttachQueue(out, -1, &rights));
    tell(to_parent, 1);
    for (;;) {
        put_bytes(out, 1 + number % 5000, number, -1);
        number++;
        get_bytes(in, &size, &seed, 1);
    }
}

/* Children die at any moment of a call: the queues stay usable and their messages whole. */
static void storm(void)
{
    enum { KILLS = 25 };
    uint32_t in, out;
    size_t size;
    unsigned seed, last, number = 0, got = 0;
    int i, code;

    OK(acltdtCreateQueue(NULL, &in));
    OK(acltdtCreateQueue(NULL, &out));
    for (i = 0; i < KILLS; i++) {
        struct child child = start(hurries);
        double until;
        int first = 1;

        OK(acltdtGrantQueue(in, child.pid, ACL_TDT_QUEUE_PERMISSION_DEQUEUE, 0));
        OK(acltdtGrantQueue(out, child.pid, ACL_TDT_QUEUE_PERMISSION_ENQUEUE, 0));
        tell(child.out, in);
        tell(child.out, out);
        SAME(1, hear(child.in));
        until = seconds_now() + 0.003 * (1 + i % 7);
        last = 0;
        while (seconds_now() < until) {
            put_bytes(in, 1 + number % 3000, number, 1);
            number++;
            if (get_bytes(out, &size, &seed, 1) == ACL_SUCCESS) {
                /* Numbers of one child go up by one. */
                HOLDS(first || seed == last + 1);
                HOLDS(size == 1 + seed % 5000);
                first = 0;
                last = seed;
                got++;
            }
        }
        kill_now(child);
        /* What it left is whole, and then it is empty. */
        while ((code = get_bytes(out, &size, &seed, 60)) == ACL_SUCCESS) {
            HOLDS(first || seed == last + 1);
            first = 0;
            last = seed;
            got++;
        }
        HOLDS(code == QUEUE_EMPTY || code == IPC_BROKEN);
        while (get_bytes(in, &size, &seed, 1) == ACL_SUCCESS) {
        }
    }
    HOLDS(got > KILLS);
    OK(acltdtDestroyQueue(in));
    OK(acltdtDestroyQueue(out));
}

/* Leaves everything behind. */
static void leaves(void)
{
    uint32_t queue;
    acltdtChannelHandle *channel;
    int i;

    use_device();
    for (i = 0; i < 5; i++) {
        OK(acltdtCreateQueue(NULL, &queue));
        OK(acltdtGrantQueue(queue, getppid(), 7, 0));
        OK(put_bytes(queue, MIB, i, 1));
    }
    channel = acltdtCreateChannelWithCapacity(0, "left", 2);
    HOLDS(channel != NULL);
    OK(acltdtSendTensor(channel, acltdtCreateDataset(), -1));
    tell(to_parent, 1);
    for (;;) {
        pause();
    }
}

/* The first use of queues by the next process clears up. */
static void next_process(void)
{
    uint32_t queue;

    use_device();
    OK(acltdtCreateQueue(NULL, &queue));
    tell(to_parent, files());
}

int main(void)
{
    struct child child;

    private_directory();
    peer_killed();
    owner_killed();
    channel_killed();
    storm();
    child = start(leaves);
    SAME(1, hear(child.in));
    kill_now(child);
    HOLDS(files() >= 10);
    child = start(next_process);
    SAME(1, hear(child.in));
    finish(child);
    SAME(0, files());
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    remove_directory();
    return 0;
}
