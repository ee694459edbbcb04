/*
 * Copies a rectangle of an image: rows of `width` bytes that lie `pitch` bytes
 * apart. What lies between the rows must not change, on either side.
 */
#include "check.h"

enum { WIDTH = 1920 * 3, HEIGHT = 1080, HOST_PITCH = 6016, DEVICE_PITCH = 5824 };

int main(void)
{
    const size_t host_size = (size_t)HOST_PITCH * HEIGHT;
    const size_t device_size = (size_t)DEVICE_PITCH * HEIGHT;
    unsigned char *image = host_bytes(host_size);
    unsigned char *result = host_bytes(host_size);
    unsigned char *whole = host_bytes(device_size);
    void *device = NULL;
    size_t row, i;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&device, device_size, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(device, device_size, 0xA5, device_size));

    /* Host to device: the rows arrive, the gaps between them stay as they were. */
    fill_random(image, host_size, 1);
    OK(aclrtMemcpy2d(device, DEVICE_PITCH, image, HOST_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(whole, device_size, device, device_size, ACL_MEMCPY_DEVICE_TO_HOST));
    for (row = 0; row < HEIGHT; row++) {
        const unsigned char *line = whole + row * DEVICE_PITCH;

        REQUIRE(memcmp(line, image + row * HOST_PITCH, WIDTH) == 0);
        for (i = WIDTH; i < DEVICE_PITCH; i++) {
            REQUIRE(line[i] == 0xA5);
        }
    }

    /* Device to host, the same way back. */
    memset(result, 0x5A, host_size);
    OK(aclrtMemcpy2d(result, HOST_PITCH, device, DEVICE_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_DEVICE_TO_HOST));
    for (row = 0; row < HEIGHT; row++) {
        const unsigned char *line = result + row * HOST_PITCH;

        REQUIRE(memcmp(line, image + row * HOST_PITCH, WIDTH) == 0);
        for (i = WIDTH; i < HOST_PITCH; i++) {
            REQUIRE(line[i] == 0x5A);
        }
    }

    /* A row that is wider than the distance between rows is refused. */
    EXPECT(ACL_ERROR_INVALID_PARAM,
           aclrtMemcpy2d(device, WIDTH - 1, image, HOST_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_HOST_TO_DEVICE));

    OK(aclrtFree(device));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    free(whole);
    free(result);
    free(image);
    printf("memcpy2d: %d rows of %d bytes, both ways, gaps untouched\n", HEIGHT, WIDTH);
    return 0;
}
