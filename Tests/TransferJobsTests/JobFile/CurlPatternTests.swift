import Testing

@testable import TransferJobs

/// Patterns that stand for several URLs, as curl's manual describes them.
@Suite struct CurlPatternTests {
    private static func texts(_ pattern: String, globs: Bool = true) throws -> [String] {
        let made = try CurlPattern(pattern, globs: globs)
        return (0..<made.count).map { made[$0].text }
    }

    @Test(arguments: [
        ("http://h/x", ["http://h/x"]), ("{a,b}", ["a", "b"]), ("{a}", ["a"]), ("x{one,two}y", ["xoney", "xtwoy"]),
        ("[1-3]", ["1", "2", "3"]), ("[8-11]", ["8", "9", "10", "11"]), ("[008-010]", ["008", "009", "010"]),
        ("[0-2]", ["0", "1", "2"]), ("[1-10:4]", ["1", "5", "9"]), ("[001-7:3]", ["001", "004", "007"]),
        ("[5-5]", ["5"]), ("[a-d]", ["a", "b", "c", "d"]), ("[A-C]", ["A", "B", "C"]), ("[a-g:3]", ["a", "d", "g"]),
        ("[a-g:9]", ["a"]), ("{a,b}[1-2]", ["a1", "a2", "b1", "b2"]),
        ("http://[::1]/[1-2]", ["http://[::1]/1", "http://[::1]/2"]),
        ("http://[fe80::1%25eth0]:80/x", ["http://[fe80::1%25eth0]:80/x"]),
        (#"\[1-2\]{a\,b,c}"#, ["[1-2]a,b", "[1-2]c"]),
        (#"a\b"#, [#"a\b"#]), ("", [""]),
    ])
    func aPatternExpandsToItsTexts(_ pattern: String, _ texts: [String]) throws {
        #expect(try Self.texts(pattern) == texts)
    }

    @Test(arguments: [
        ("[3-1]", "a range is written"), ("[b-a]", "a range is written"), ("[a-Z]", "a range is written"),
        ("[A-z]", "a range is written"), ("[1-b]", "a range is written"), ("[1-2:0]", "a range is written"),
        ("[1-2:x]", "a range is written"), ("[1]", "a range is written"), ("[]", "a range is written"),
        ("[-1-2]", "a range is written"), ("[1-99999999999999999999]", "a range is written"),
        ("[1-2", "the brackets are not closed"),
        ("{a", "the braces are not closed"), ("{}", "a word of the braces is empty"),
        ("{a,}", "a word of the braces is empty"),
        ("{a,[1-2]}", "brackets do not stand within braces"), ("{a,{b,c}}", "brackets do not stand within braces"),
        ("a}", "\"}\" closes nothing"),
        ("a]", "\"]\" closes nothing"), ("[1-100001]", "100,000 files at most"),
        ("[0-9223372036854775807]", "100,000 files at most"),
        ("[1-1000][1-1000]", "100,000 files at most"), ("[1-9][1-9][1-9][1-9][1-9][1-9]", "100,000 files at most"),
    ])
    func anInvalidPatternIsReportedWithItsReason(_ pattern: String, _ words: String) {
        let fault = #expect(throws: CurlPattern.Fault.self) { try CurlPattern(pattern) }
        #expect(fault?.message.contains(words) == true, "\(String(describing: fault))")
    }

    @Test func bracketsHaveNoMeaningWithoutGlobbing() throws {
        for text in ["{a,b}", "[1-2", #"\["#] { #expect(try Self.texts(text, globs: false) == [text]) }
        #expect(try CurlPattern("[1-100000]").count == CurlPattern.most)
    }

    @Test(arguments: [
        ("#1", "a"), ("#2_#1", "07_a"), ("x#1y", "xay"), ("#3", "#3"), ("#0", "#0"), ("#", "#"), ("##1", "#a"),
        ("#12", "#12"),
        ("1", "1"), ("#01", "a"),
    ])
    func aNameHasTheWordsOfThePatterns(_ name: String, _ filled: String) throws {
        let words = try CurlPattern("http://{a,b}/[07-9]")[0].words
        #expect(CurlPattern.filled(name, words) == filled)
    }
}
