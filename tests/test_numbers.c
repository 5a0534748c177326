/* test_numbers.c - numbers from text are rounded exactly, in any locale; numbers to text come back the same. */
#include "base/base.h"
#include "base/fivepowers.h"
#include "test.h"

#include <string.h>

static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The same bits and the same end as strtod, which glibc documents as correctly rounded. */
static void check_parse(const char *text)
{
    const char *end;
    char *expected_end;
    double value = sk_parse_double(text, &end), expected = strtod(text, &expected_end);
    if (to_bits(value) != to_bits(expected) || end != expected_end) {
        print_error("'%s' was read as %.17g (%td characters), strtod says %.17g (%td)\n", text, value, end - text,
                    expected, expected_end - text);
        fail();
    }
}

static void test_numbers__random_doubles_are_rounded_as_strtod_does(void **state)
{
    (void)state;
    uint64_t seed = 1;
    char text[64];
    for (int i = 0; i < 100000; i++) {
        double any = from_bits(random_bits(&seed)), usual = ldexp((double)random_bits(&seed), (int)(i % 160) - 140);
        if (!isfinite(any)) continue;
        snprintf(text, sizeof text, "%.*g", 1 + i % 25, any);
        check_parse(text);
        snprintf(text, sizeof text, "%.*e", i % 25, usual);
        check_parse(text);
        snprintf(text, sizeof text, "%.*f", i % 30, ldexp((double)(int64_t)random_bits(&seed), -(i % 64)));
        check_parse(text);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)random_bits(&seed), i % 150 - 75);
        check_parse(text);
    }
}

/* The exact decimal digits of odd * 2^power, by schoolbook doubling (power > 0) or odd * 5^-power with a point. */
static void write_exactly(uint64_t odd, int power, char *text)
{
    unsigned char digit[256] = {0}; /* least first */
    int count = 0, fraction = power < 0 ? -power : 0, factor = power < 0 ? 5 : 2;
    for (; odd; odd /= 10) digit[count++] = (unsigned char)(odd % 10);
    for (int i = 0; i < abs(power); i++) {
        int carry = 0;
        for (int k = 0; k < count; k++) {
            int product = digit[k] * factor + carry;
            digit[k] = (unsigned char)(product % 10);
            carry = product / 10;
        }
        if (carry) digit[count++] = (unsigned char)carry;
    }
    if (count <= fraction) count = fraction + 1; /* leading zeros */
    for (int k = count - 1; k >= 0; k--) {
        *text++ = (char)('0' + digit[k]);
        if (k == fraction && k > 0) *text++ = '.';
    }
    *text = 0;
}

/* The middle between two neighbours, exactly, and a very little to either side. */
static void test_numbers__ties_go_to_even(void **state)
{
    (void)state;
    uint64_t seed = 2;
    char text[512];
    const char *end;
    for (int i = 0; i < 20000; i++) {
        uint64_t odd = (random_bits(&seed) >> 10) | 1ull << 53 | 1; /* 54 bits: a half behind the 53 */
        int power = i % 120 - 90;
        write_exactly(odd, power, text);
        check_parse(text);
        double below = ldexp((double)(odd >> 1), power + 1), above = ldexp((double)((odd >> 1) + 1), power + 1);
        assert_true(sk_parse_double(text, &end) == ((odd >> 1) & 1 ? above : below));
        strcat(text, power < 0 ? "000000000001" : ".000000000001");
        assert_true(sk_parse_double(text, &end) == above);
        write_exactly(odd, power, text);
        if (power < 0) {
            text[strlen(text) - 1]--; /* the last digit is 5 */
            strcat(text, "9999999999999");
            assert_true(sk_parse_double(text, &end) == below);
        }
    }
    check_parse("9007199254740993");
    check_parse("9007199254740995");
    check_parse("9007199254740993.00000000000000000000000000001");
    check_parse("9007199254740992.99999999999999999999999999999");
}

static void test_numbers__hard_and_odd_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+0",
                                        "0.0",
                                        ".5",
                                        "5.",
                                        "-.5e-3",
                                        "1e",
                                        "1e+",
                                        "1e-",
                                        "1E5x",
                                        "12abc",
                                        "",
                                        "-",
                                        "+",
                                        ".",
                                        "e5",
                                        "-.",
                                        "1e400",
                                        "-1e400",
                                        "1e-400",
                                        "4.9406564584124654e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "2.2250738585072011e-308",
                                        "2.2250738585072014e-308",
                                        "1.7976931348623157e308",
                                        "1.7976931348623159e308",
                                        "0e99999999999",
                                        "1e99999999999",
                                        "1e-99999999999",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "9999999999999999999",
                                        "10000000000000000000",
                                        "99999999999999999999999999999999e-20",
                                        "000000000000000000000000000000000000001.5",
                                        "0.0000000000000000000000000000000000000000000000000000123",
                                        "6.8490e-315",
                                        "1.0000000000000002",
                                        "1.00000000000000011102230246251565404",
                                        "1.00000000000000011102230246251565405",
                                        "1.00000000000000011102230246251565403",
                                        "8.98846567431158e307",
                                        "7.2057594037927933e16",
                                        "1e22",
                                        "1e23",
                                        "1e-22",
                                        "1e-23",
                                        "9007199254740991e22",
                                        "9007199254740993e22",
                                        "2.9802322387695312500000000000000000000000000000e-8"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) check_parse(texts[i]);
    const char *end;
    assert_true(sk_parse_double("0x10", &end) == 0 && *end == 'x');
    const char *word[] = {"inf", "nan", "Infinity", " 1"};
    for (size_t i = 0; i < 4; i++) {
        sk_parse_double(word[i], &end);
        assert_ptr_equal(end, word[i]);
    }
}

__extension__ typedef unsigned __int128 wide;

/* Five times one entry, on the scale of the next (2 or 3 bits down), is the next, up to what both cuts leave out. */
static void test_numbers__table_of_powers_of_five(void **state)
{
    (void)state;
    assert_true(five_power[-FIVE_LEAST][0] == 1ull << 63 && five_power[-FIVE_LEAST][1] == 0);
    for (int q = FIVE_LEAST; q < FIVE_MOST; q++) {
        const uint64_t *a = five_power[q - FIVE_LEAST], *b = five_power[q + 1 - FIVE_LEAST];
        wide low = (wide)a[1] * 5, high = (wide)a[0] * 5 + (uint64_t)(low >> 64); /* 5 a = high 2^64 + low */
        int shift = high >> 66 ? 3 : 2;
        wide next_high = ((wide)b[0] << shift) | b[1] >> (64 - shift);
        uint64_t next_low = b[1] << shift, difference = next_low - (uint64_t)low;
        assert_true(a[0] >> 63 == 1 && b[0] >> 63 == 1);
        if (q >= 0 && q < FIVE_EXACT) {
            assert_true(difference == 0 && next_high == high);
            continue;
        }
        /* -2^shift < difference < 5, with a carry between the limbs where the low ones wrap */
        assert_true(difference + 7 <= 12);
        if (next_low >= 8 && next_low < UINT64_MAX - 8) assert_true(next_high == high);
    }
}

static void test_numbers__printing_reads_back(void **state)
{
    (void)state;
    uint64_t seed = 3;
    char text[32];
    const char *end;
    for (int i = 0; i < 100000; i++) {
        double value = from_bits(random_bits(&seed));
        if (!isfinite(value)) continue;
        size_t length = sk_print_double(text, value);
        assert_int_equal(length, strlen(text));
        assert_true(to_bits(sk_parse_double(text, &end)) == to_bits(value) && *end == 0);
    }
    sk_print_double(text, 0.1);
    assert_string_equal(text, "0.1");
    sk_print_double(text, -0.0);
    assert_string_equal(text, "-0");
    sk_print_double(text, 0.1 + 0.2);
    assert_string_equal(text, "0.30000000000000004");
}

static void test_numbers__roundest_near_a_middle(void **state)
{
    (void)state;
    static const struct {
        double middle, reach, round;
    } cases[] = {{0.4, 0.5, 0},        {-0.5, 0.5, 0},   {301.7, 2, 300},   {301.7, 1.6, 302}, {301.7, 0.25, 301.7},
                 {-301.7, 2, -300},    {273.15, 8, 270}, {273.15, 30, 300}, {980, 30, 1000},   {6, 4.5, 6},
                 {0.0317, 2e-3, 0.03}, {1e5, 1, 1e5},    {0.3, 1e-9, 0.3},  {96.2, 5, 100},    {25.2, 3, 25}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double round = sk_roundest(cases[i].middle, cases[i].reach);
        assert_true(round == cases[i].round);
    }
    assert_int_equal(sk_decimal_digits(0), 0);
    assert_int_equal(sk_decimal_digits(-300), 1);
    assert_int_equal(sk_decimal_digits(0.0305), 3);
    assert_int_equal(sk_decimal_digits(301.7), 4);
    assert_int_equal(sk_decimal_digits(1.0 / 3), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers__random_doubles_are_rounded_as_strtod_does),
        cmocka_unit_test(test_numbers__ties_go_to_even),
        cmocka_unit_test(test_numbers__hard_and_odd_texts),
        cmocka_unit_test(test_numbers__table_of_powers_of_five),
        cmocka_unit_test(test_numbers__printing_reads_back),
        cmocka_unit_test(test_numbers__roundest_near_a_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
