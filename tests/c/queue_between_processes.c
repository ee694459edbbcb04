/*
 * A queue and a channel between two processes: rights, bytes both ways, ends.
 *
 * run: CANNERY_LOG=error
 * run: CANNERY_LOG=error CANNERY_PROFILE=310B CANNERY_MODE=rc
 */
#define _GNU_SOURCE
#include "queue_processes.h"

enum { ROUNDS = 40, BIG = 3 << 20 };

static void peer(void)
{
    uint32_t queue = hear(from_parent), back, rights = 0;
    size_t size;
    unsigned seed;
    int i;

    use_device();
    /* Without rights there is nothing to attach, and what is not attached does not exist. */
    CODE(107019, acltdtAttachQueue(queue, 30, &rights));
    CODE(UNKNOWN_QUEUE, put_bytes(queue, 64, 1, 1));
    tell(to_parent, 1);
    OK(acltdtAttachQueue(queue, -1, &rights));
    SAME(ACL_TDT_QUEUE_PERMISSION_DEQUEUE, rights);
    CODE(NO_PERMISSION, put_bytes(queue, 64, 1, 1));
    CODE(NO_PERMISSION, acltdtDestroyQueue(queue));
    CODE(NO_PERMISSION, acltdtGrantQueue(queue, getppid(), 1, 0));
    /* A queue of this side for the answers. */
    OK(acltdtCreateQueue(NULL, &back));
    OK(acltdtGrantQueue(back, getppid(), ACL_TDT_QUEUE_PERMISSION_DEQUEUE, 0));
    tell(to_parent, back);
    for (i = 0; i < ROUNDS; i++) {
        OK(get_bytes(queue, &size, &seed, -1));
        SAME(i, seed);
        OK(put_bytes(back, size, seed + 1000, -1));
    }
    /* More rights later are there at once. */
    tell(to_parent, 2);
    SAME(3, hear(from_parent));
    OK(put_bytes(queue, BIG, 77, -1));
    /* The maker destroys it while this side waits. */
    OK(acltdtAttachQueue(queue, 0, &rights));
    SAME(ACL_TDT_QUEUE_PERMISSION_DEQUEUE | ACL_TDT_QUEUE_PERMISSION_ENQUEUE, rights);
    tell(to_parent, 4);
    SAME(5, hear(from_parent));
    CODE(UNKNOWN_QUEUE, get_bytes(queue, &size, &seed, -1));
    SAME(6, hear(from_parent));
    OK(acltdtDestroyQueue(back));
}

static void queues(void)
{
    struct child child = start(peer);
    uint32_t queue, back, rights;
    size_t size, sizes[ROUNDS];
    unsigned seed;
    int i;

    use_device();
    OK(acltdtCreateQueue(NULL, &queue));
    /* What was put in before others may use it is there for them too. */
    for (i = 0; i < 3; i++) {
        sizes[i] = BIG - i;
        OK(put_bytes(queue, sizes[i], i, -1));
    }
    tell(child.out, queue);
    SAME(1, hear(child.in));
    OK(acltdtGrantQueue(queue, child.pid, ACL_TDT_QUEUE_PERMISSION_DEQUEUE, 0));
    back = hear(child.in);
    OK(acltdtAttachQueue(back, 1000, &rights));
    for (i = 0; i < ROUNDS; i++) {
        if (i >= 3) {
            sizes[i] = 1 + (size_t)i * 77777;
            OK(put_bytes(queue, sizes[i], i, -1));
        }
        OK(get_bytes(back, &size, &seed, -1));
        SAME(i + 1000, seed);
        SAME(sizes[i], size);
    }
    SAME(2, hear(child.in));
    OK(acltdtGrantQueue(queue, child.pid, ACL_TDT_QUEUE_PERMISSION_ENQUEUE, 0));
    tell(child.out, 3);
    OK(get_bytes(queue, &size, &seed, -1));
    SAME(77, seed);
    SAME(4, hear(child.in));
    tell(child.out, 5);
    sleep_ms(100);
    OK(acltdtDestroyQueue(queue));
    tell(child.out, 6);
    finish(child);
    /* The other side destroyed its own. */
    CODE(UNKNOWN_QUEUE, get_bytes(back, &size, &seed, 1));
    SAME(0, files());
}

/* A buffer of `size` bytes of a seed, of which all but the last count. */
static acltdtBuf filled(size_t size, unsigned seed)
{
    acltdtBuf buf = NULL;
    void *data;
    size_t room;

    OK(acltdtAllocBuf(size, ACL_TDT_NORMAL_MEM, &buf));
    OK(acltdtGetBufData(buf, &data, &room));
    SAME(size, room);
    fill_bytes(data, size, seed);
    OK(acltdtSetBufDataLen(buf, size - 1));
    OK(acltdtSetBufUserData(buf, &seed, sizeof seed, 92));
    return buf;
}

static void taker(void)
{
    static unsigned char want[BIG];
    uint32_t queue = hear(from_parent), rights, number;
    acltdtBuf head, part;
    unsigned seed, i;

    use_device();
    OK(acltdtAttachQueue(queue, -1, &rights));
    OK(acltdtDequeue(queue, &head, -1));
    OK(acltdtGetBufChainNum(head, &number));
    SAME(3, number);
    for (i = 0; i < number; i++) {
        void *data;
        size_t size, valid;

        OK(acltdtGetBufFromChain(head, i, &part));
        OK(acltdtGetBufData(part, &data, &size));
        SAME(BIG - i, size);
        OK(acltdtGetBufDataLen(part, &valid));
        SAME(BIG - i - 1, valid);
        OK(acltdtGetBufUserData(part, &seed, sizeof seed, 92));
        SAME(40 + i, seed);
        fill_bytes(want, size, seed);
        HOLDS(memcmp(want, data, size) == 0);
    }
    OK(acltdtFreeBuf(head));
}

/* A chain of buffers goes to another process, with lengths and user data. */
static void buffers(void)
{
    struct child child = start(taker);
    acltdtBuf head, part;
    uint32_t queue;
    unsigned i;

    OK(acltdtCreateQueue(NULL, &queue));
    tell(child.out, queue);
    OK(acltdtGrantQueue(queue, child.pid, ACL_TDT_QUEUE_PERMISSION_DEQUEUE, 0));
    head = filled(BIG, 40);
    for (i = 1; i < 3; i++) {
        part = filled(BIG - i, 40 + i);
        OK(acltdtAppendBufChain(head, part));
    }
    OK(acltdtEnqueue(queue, head, -1));
    finish(child);
    OK(acltdtDestroyQueue(queue));
    SAME(0, files());
}

static void sender(void)
{
    static unsigned char bytes[BIG];
    acltdtChannelHandle *channel;
    acltdtDataset *dataset;
    acltdtDataItem *item;
    int64_t shape[2] = {3, 1 << 20};
    int i;

    use_device();
    channel = acltdtCreateChannelWithCapacity(0, "train", 4);
    HOLDS(channel != NULL);
    for (i = 0; i < ROUNDS; i++) {
        fill_bytes(bytes, sizeof bytes, i);
        item = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, shape, 2, ACL_UINT8, bytes, sizeof bytes);
        dataset = acltdtCreateDataset();
        HOLDS(item != NULL && dataset != NULL);
        OK(acltdtAddDataItem(dataset, item));
        OK(acltdtSendTensor(channel, dataset, -1));
        OK(acltdtDestroyDataset(dataset));
        OK(acltdtDestroyDataItem(item));
    }
    /* It ends with messages inside, which the other side still gets. */
}

static void channels(void)
{
    static unsigned char want[BIG];
    struct child child;
    acltdtChannelHandle *channel = acltdtCreateChannelWithCapacity(0, "train", 4);
    acltdtDataset *dataset;
    acltdtDataItem *item;
    int i;

    HOLDS(channel != NULL);
    child = start(sender);
    for (i = 0; i < ROUNDS; i++) {
        dataset = acltdtCreateDataset();
        OK(acltdtReceiveTensor(channel, dataset, -1));
        SAME(1, acltdtGetDatasetSize(dataset));
        HOLDS(strcmp("train", acltdtGetDatasetName(dataset)) == 0);
        item = acltdtGetDataItem(dataset, 0);
        SAME(BIG, acltdtGetDataSizeFromItem(item));
        fill_bytes(want, sizeof want, i);
        HOLDS(memcmp(want, acltdtGetDataAddrFromItem(item), BIG) == 0);
        OK(acltdtDestroyDataset(dataset));
    }
    finish(child);
    dataset = acltdtCreateDataset();
    CODE(QUEUE_EMPTY, acltdtReceiveTensor(channel, dataset, 20));
    OK(acltdtStopChannel(channel));
    OK(acltdtDestroyChannel(channel));
    SAME(0, files());
}

int main(void)
{
    private_directory();
    queues();
    /* 310B has buffers and no channels. */
    if (getenv("CANNERY_PROFILE") == NULL) {
        channels();
    } else {
        buffers();
    }
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    remove_directory();
    return 0;
}
