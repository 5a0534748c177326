/* test_base.c - failures, memory, parallel loops, random numbers, bulk mathematics, numbers as text. */
#include "base/base.h"
#include "test.h"

#include <math.h>
#include <string.h>

/* Known answers of the Random123 distribution (kat_vectors, philox4x64 10). */
static void test_random__philox_known_answers(void **state)
{
    (void)state;
    uint64_t out[4], zero[4] = {0}, ones[4] = {~0ull, ~0ull, ~0ull, ~0ull};
    sk_philox((sk_key){0, 0}, zero, out);
    assert_true(out[0] == 0x16554d9eca36314cu && out[1] == 0xdb20fe9d672d0fdcu);
    assert_true(out[2] == 0xd7e772cee186176bu && out[3] == 0x7e68b68aec7ba23bu);
    sk_philox((sk_key){~0ull, ~0ull}, ones, out);
    assert_true(out[0] == 0x87b092c3013fe90bu && out[1] == 0x438c3c67be8d0224u);
    assert_true(out[2] == 0x9cc7d7c69cd777b6u && out[3] == 0xa09caebf594f0ba0u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random__philox_known_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
