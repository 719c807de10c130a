import Testing
import TransferCore

@Suite struct ByteCountTests {
    @Test(
        arguments: [
            ("0", 0), ("4096", 4096), ("10K", 10_240), ("10k", 10_240), ("512K", 524_288), ("10M", 10_485_760),
            ("2MiB", 2_097_152), ("2MB", 2_097_152), ("1.5G", 1_610_612_736), ("1T", 1_099_511_627_776), ("7B", 7),
        ] as [(String, Int64)])
    func readsAmountsInPowersOf1024(_ text: String, _ bytes: Int64) {
        #expect(ByteCount.parse(text) == bytes)
    }

    @Test(arguments: [
        "", " ", "K", "-1", "+1", "10X", "10 M", "1,5M", "1.2.3K", "nan", "inf", "infinity", "0x10", "1e5", "M10",
        "9000000T", "99999999999999999999", "١٠M",
    ])
    func invalidAmountsAreRefused(_ text: String) {
        #expect(ByteCount.parse(text) == nil)
    }

    /// The examples of the intended format, and the limits at which the unit or the number of decimals changes.
    @Test(
        arguments: [
            (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (217_088, "212 KiB"),
            (421_527_552, "402 MiB"),
            (64_697_139, "61.7 MiB"), (1_299_227_607, "1.21 GiB"), (10_240, "10.0 KiB"), (102_400, "100 KiB"),
            (1_048_575, "1.00 MiB"), (1_022_976, "999 KiB"), (1_024_000, "0.98 MiB"), (10_234, "9.99 KiB"),
            (10_239, "10.0 KiB"), (1_048_576, "1.00 MiB"), (1_099_511_627_776, "1.00 TiB"),
            (Int64.max, "8.00 EiB"), (-1, "-1 B"),
        ] as [(Int64, String)])
    func showsThreeSignificantDigits(_ bytes: Int64, _ text: String) {
        #expect(ByteCount.format(bytes) == text)
    }

    @Test func neverShowsMoreThanThreeDigitsAboveTheFirstUnit() {
        for exponent in 10..<63 {
            for offset: Int64 in [-1, 0, 1] {
                let text = ByteCount.format(Int64(1) << exponent + offset)
                let digits = text.prefix { $0 != " " }.filter(\.isNumber).count
                #expect(digits <= 3 || text.hasSuffix(" B"), "\(text)")
            }
        }
    }
}

@Suite struct DurationTextTests {
    @Test(
        arguments: [
            ("30s", Duration.seconds(30)), ("5m", .seconds(300)), ("1h30m", .seconds(5400)),
            ("250ms", .milliseconds(250)),
            ("7d", .seconds(604_800)), ("1w", .seconds(604_800)), ("90", .seconds(90)), ("0.5", .milliseconds(500)),
            ("1.5h", .seconds(5400)), ("0s", .zero), ("2min", .seconds(120)), ("3sec", .seconds(3)),
        ] as [(String, Duration)])
    func readsDurations(_ text: String, _ duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(arguments: [
        "", "s", "-5", "-5s", "5x", "5 m", "1h30", "nan", "inf", "infinity", "1..5s", "9999999999s", "1e300", "0x10",
        "h1",
    ])
    func invalidDurationsAreRefused(_ text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(
        arguments: [
            (8, "0:08"), (13, "0:13"), (42, "0:42"), (546, "9:06"), (0, "0:00"), (59, "0:59"), (60, "1:00"),
            (3599, "59:59"),
            (3600, "1:00:00"), (3723, "1:02:03"), (360_000, "100:00:00"), (-5, "0:00"),
        ] as [(Int, String)])
    func showsAClock(_ seconds: Int, _ text: String) {
        #expect(DurationText.clock(.seconds(seconds)) == text)
    }

    @Test(
        arguments: [
            (8000, "8 s"), (8500, "8.5 s"), (10_900, "10 s"), (59_000, "59 s"), (60_000, "1m 00s"),
            (702_000, "11m 42s"),
            (363_000, "6m 03s"), (7_500_000, "2h 05m"), (273_600_000, "3d 04h"), (0, "0 s"), (400, "0.4 s"),
            (-1000, "0 s"),
        ] as [(Int, String)])
    func showsTheTwoLargestUnits(_ milliseconds: Int, _ text: String) {
        #expect(DurationText.words(.milliseconds(milliseconds)) == text)
    }

    @Test func millisecondsAreRoundedUpAndNeverNegative() {
        #expect(Duration.nanoseconds(1).inMilliseconds == 1)
        #expect(Duration.milliseconds(1).inMilliseconds == 1)
        #expect(Duration.seconds(-1).inMilliseconds == 0)
        #expect(Duration.zero.inMilliseconds == 0)
        #expect(Duration.seconds(Int64.max).inMilliseconds == .max)
        #expect(Duration.milliseconds(1500).inSeconds == 1.5)
    }
}

@Suite struct ChecksumTests {
    static let sha256 = String(repeating: "9f86d081", count: 8)

    @Test(
        arguments: [
            ("sha256:" + sha256, DigestAlgorithm.sha256, sha256), ("SHA256:" + sha256.uppercased(), .sha256, sha256),
            ("sha-256=" + sha256, .sha256, sha256),
            ("md5:" + String(sha256.prefix(32)), .md5, String(sha256.prefix(32))),
            ("sha-1=" + String(sha256.prefix(40)), .sha1, String(sha256.prefix(40))),
            ("sha512:" + sha256 + sha256, .sha512, sha256 + sha256),
        ] as [(String, DigestAlgorithm, String)])
    func readsBothSpellings(_ text: String, _ algorithm: DigestAlgorithm, _ hex: String) throws {
        let checksum = try #require(Checksum(text))
        #expect(checksum.algorithm == algorithm && checksum.hex == hex)
        #expect(checksum.description == "\(algorithm.rawValue):\(hex)")
        #expect(Checksum(checksum.description) == checksum)
    }

    @Test(arguments: [
        "", "sha256", "sha256:", "sha256:abc", "sha3:" + sha256, sha256, "md5:" + sha256,
        "sha256:" + sha256.dropLast() + "g",
        "sha256: " + sha256, "sha256:" + sha256 + "0",
    ])
    func refusesTheRest(_ text: String) {
        #expect(Checksum(text) == nil)
    }
}

@Suite struct PercentEncodingTests {
    @Test(
        arguments: [
            ("a%20b", Array("a b".utf8)), ("%E2%82%ac", [0xE2, 0x82, 0xAC]), ("100%", Array("100%".utf8)),
            ("%4", Array("%4".utf8)), ("%zz", Array("%zz".utf8)), ("%00", [0]), ("%%41", Array("%A".utf8)), ("", []),
            ("a+b", Array("a+b".utf8)), ("%41", Array("A".utf8)),
        ] as [(String, [UInt8])])
    func decodes(_ text: String, _ bytes: [UInt8]) {
        #expect(PercentEncoding.decode(text) == bytes)
    }

    @Test func encodesAllButTheUnreserved() {
        #expect(PercentEncoding.encode("aZ09-._~") == "aZ09-._~")
        #expect(PercentEncoding.encode("a/b c%?#é\u{0}") == "a%2Fb%20c%25%3F%23%C3%A9%00")
    }

    @Test func everyByteComesBack() {
        let text = String(String.UnicodeScalarView((0..<0x800).compactMap { Unicode.Scalar($0) }))
        #expect(PercentEncoding.decode(PercentEncoding.encode(text)) == Array(text.utf8))
    }
}

@Suite struct MonotonicTimeTests {
    @Test func addsAndSubtracts() {
        let start = MonotonicTime(nanoseconds: 1_000)
        #expect((start + .milliseconds(2)).nanoseconds == 2_001_000)
        #expect((start + .nanoseconds(-1)).nanoseconds == 999)
        #expect(MonotonicTime(nanoseconds: 5) - start == .nanoseconds(-995))
        #expect(start < start + .nanoseconds(1))
    }

    @Test(arguments: [
        Duration.seconds(Int64.max), .seconds(9_223_372_036) + .milliseconds(900), .seconds(9_223_372_037),
    ])
    func saturates(_ duration: Duration) {
        #expect((MonotonicTime(nanoseconds: 1) + duration).nanoseconds == .max)
    }

    @Test func saturatesDownwards() {
        #expect((MonotonicTime(nanoseconds: 0) + .seconds(Int64.min)).nanoseconds == .min)
        #expect((MonotonicTime(nanoseconds: -9_000_000_000_000_000_000) + .seconds(-9_000_000_000)).nanoseconds == .min)
    }
}
