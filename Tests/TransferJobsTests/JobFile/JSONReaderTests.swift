import Testing
import TransferQueueFixtures

@testable import TransferJobs

@Suite struct JSONReaderTests {
    private func firstFault(_ bytes: [UInt8]) -> JSONFault? {
        bytes.withUnsafeBufferPointer { buffer -> JSONFault? in
            var reader = JSONReader(buffer)
            do throws(JSONFault) {
                try reader.skipValue()
                try reader.expectEnd()
                return nil
            } catch {
                return error
            }
        }
    }

    private static let malformed: [(String, Int, String)] = [
        ("", 0, "the text ends where a value should be"),
        ("{", 1, "the text ends before \"}\""),
        ("[1", 2, "the text ends before \"]\""),
        ("[1,]", 2, "nothing follows this comma before \"]\""),
        (#"{"a":1,}"#, 6, "nothing follows this comma before \"}\""),
        (#"{"a" 1}"#, 5, #"expected ":" behind the key, found "1""#),
        (#"{"a":1 "b":2}"#, 7, #"expected "," or "}", found a string"#),
        ("{a:1}", 1, #"expected a key in double quotes, found "a""#),
        ("['a']", 1, "expected double quotes, found a single one"),
        ("// x", 0, "JSON has no comments; a key that begins with \"x-\" can hold one"),
        ("[é]", 1, #"expected a value, found "é""#),
        ("[\u{7}]", 1, "expected a value, found byte 0x7"),
        (#"["a"#, 1, "this string has no closing quote"),
        ("[\"a\nb\"]", 1, "this string has no closing quote"),
        ("[\"a\tb\"]", 3, #"a string cannot hold a raw control character; write "\u0009""#),
        (#"["\q"]"#, 2, "JSON has no such escape; a backslash is written \"\\\\\""),
        (#"["\u12g4"]"#, 2, "\"\\u\" needs four hexadecimal digits"),
        (#"["\ud800"]"#, 2, "half of a surrogate pair"),
        (#"["\udc00\ud800"]"#, 2, "half of a surrogate pair"),
        ("01", 0, "a number cannot begin with 0"),
        ("[-]", 1, "this number lacks a digit"), ("[1.]", 1, "this number lacks a digit"),
        ("[1e]", 1, "this number lacks a digit"), ("[.5]", 1, #"expected a value, found ".""#),
        ("[tru]", 1, "expected a value, found tru; text stands in double quotes"),
        ("[nil]", 1, "expected a value, found nil; text stands in double quotes"),
        ("[] []", 3, #"expected the end, found "[""#),
        (#"{"a":1,"a":2}"#, 7, #"key "a" occurs twice in this object"#),
        (#"{"a":1,"\u0061":2}"#, 7, #"key "a" occurs twice in this object"#),
    ]

    @Test(arguments: malformed)
    func refusesInvalidJSON(text: String, offset: Int, message: String) throws {
        let fault = try #require(firstFault(Array(text.utf8)))
        #expect(fault.message == message)
        #expect(fault.range.lowerBound == offset)
    }

    @Test(arguments: [
        "{}", "[]", " [ 1 , -0.5e+10 , true , false , null ] ", #"{"a":{"b":[[]]}}"#, #""\u00e9\ud83d\ude00\/\"""#, "0",
        "-0",
    ])
    func acceptsJSON(text: String) { #expect(firstFault(Array(text.utf8)) == nil) }

    @Test(
        arguments: [
            [0x80], [0xC0, 0x80], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF],
        ] as [[UInt8]])
    func refusesMalformedUTF8(bytes: [UInt8]) throws {
        let fault = try #require(firstFault([0x22] + bytes + [0x22]))
        #expect(fault.message == "invalid UTF-8" && fault.range.lowerBound == 1)
    }

    @Test func boundsTheDepth() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(firstFault(nested(64)) == nil)
        #expect(firstFault(nested(65))?.message == "nested more than 64 deep")
        #expect(firstFault(Array(String(repeating: "[", count: 1_000_000).utf8))?.range.lowerBound == 64)
    }

    @Test func survivesEveryTruncationAndEveryChangedByte() throws {
        let text = Array(
            #"{"version": 1, "jobs": [{"id": "é", "download": ["http://h/f"], "to": "\u0041", "priority": -1.5e3}]}"#
                .utf8)
        for length in 0..<text.count { _ = try read(Array(text[..<length])) }
        for index in text.indices {
            for byte in [0x00, 0x22, 0x5C, 0x7B, 0x5D, 0x2C, 0xFF, 0x0A] as [UInt8] {
                var changed = text
                changed[index] = byte
                for format in JobFileFormat.allCases { _ = try read(changed, as: format) }
            }
        }
    }

    @Test(arguments: [
        ("9223372036854775807", Int.max), ("-9223372036854775808", Int.min), ("9223372036854775808", nil),
        ("1e3", 1000),
        ("0.5", nil), ("-0", 0),
    ])
    func readsIntegersExactly(text: String, value: Int?) throws {
        let bytes = Array(text.utf8)
        try bytes.withUnsafeBufferPointer { buffer in
            var reader = JSONReader(buffer)
            let number = try reader.number()
            #expect(reader.integer(number) == value)
        }
    }
}
