/* aclAppLog is variadic, which Rust cannot define: the text is formatted here, at most 1024 bytes
 * as the manual says, and handed on. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

void cannery_log_line(int32_t level, const char *func, const char *file, uint32_t line, const char *text);

void cannery_app_log(int32_t level, const char *func, const char *file, uint32_t line, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    if (fmt == NULL) {
        return;
    }
    va_start(args, fmt);
    int written = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (written >= 0) {
        cannery_log_line(level, func, file, line, text);
    }
}
