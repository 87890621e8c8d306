/* Whether AddressSanitizer, which replaces the allocator, is compiled in. */
#ifndef GTMARK_TESTS_SANITIZED_H
#define GTMARK_TESTS_SANITIZED_H

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#endif
