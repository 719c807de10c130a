import Testing
import TransferCore
import TransferQueue

@testable import transfer

@Suite struct CharsetTests {
    @Test func namesLoseTheirBeginningAtAFolder() {
        let name = "warehouse/2026-11-19/orders.parquet"
        #expect(Charset.utf8.name(name, width: 27) == "…/2026-11-19/orders.parquet")
        #expect(Charset.ascii.name(name, width: 29) == ".../2026-11-19/orders.parquet")
        #expect(Charset.utf8.name(name, width: 35) == name)
        #expect(Charset.utf8.name("abcdefghij", width: 5) == "…ghij")
        #expect(Charset.ascii.name("abcdefghij", width: 2) == "..")
    }

    @Test func namesNeverGetWiderThanTheirColumn() {
        let names = ["フォルダ/ファイル名前.iso", "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}", "👨‍👩‍👧/x", "\u{1B}]0;title\u{7}"]
        for name in names {
            for width in 0...20 {
                #expect(DisplayWidth.of(Charset.utf8.name(name, width: width)) <= width)
                #expect(DisplayWidth.of(Charset.ascii.name(name, width: width)) <= width)
            }
        }
    }

    @Test func wideAndCombiningCharactersAreMeasured() {
        #expect(DisplayWidth.of("日本") == 4)
        #expect(DisplayWidth.of("e\u{301}") == 1)
        #expect(DisplayWidth.of("각") == 2)
        #expect(DisplayWidth.of("\u{1100}\u{1161}\u{11A8}") == 2)
        #expect(DisplayWidth.of("😀") == 2)
        #expect("日本".padded(6) == "日本  ")
    }

    @Test func aCutNeverLeavesAMarkWithoutItsCharacter() {
        #expect(Charset.utf8.name("ae\u{301}bc", width: 3) == "…bc")
        #expect(Charset.utf8.name("aae\u{301}bc", width: 4) == "…e\u{301}bc")
    }

    @Test func controlCharactersBecomeVisible() {
        #expect(Charset.utf8.visible("a\u{1B}[2Jb\n\r\t\0\u{7F}\u{9B}31m") == #"a\x1b[2Jb\n\r\t\x00\x7f\x9b31m"#)
        #expect(Charset.utf8.visible("gpj.\u{202E}exe") == #"gpj.\u{202e}exe"#)
        #expect(Charset.utf8.visible("\u{2028}\u{FEFF}") == #"\u{2028}\u{feff}"#)
        #expect(Charset.utf8.visible("größe→日本…") == "größe→日本…")
    }

    @Test func asciiHasASubstituteForEverything() {
        #expect(Charset.ascii.visible("a1→b7, größe…") == "a1->b7, gr??e...")
        #expect(Charset.ascii.visible("e\u{301}") == "e")
    }

    @Test func sentencesLoseTheirEnd() {
        #expect(Charset.utf8.sentence("permission denied", width: 11) == "permission…")
        #expect(Charset.ascii.sentence("permission denied", width: 11) == "permissi...")
    }

    @Test func numbersHaveSeparators() {
        #expect(NumberText.grouped(0) == "0")
        #expect(NumberText.grouped(999) == "999")
        #expect(NumberText.grouped(1204) == "1,204")
        #expect(NumberText.grouped(-1_234_567) == "-1,234,567")
        #expect(NumberText.count(1, "job") == "1 job")
    }

    @Test func onlyAllIsAHundredPercent() {
        #expect(NumberText.percent(199_999, of: 200_000) == 99)
        #expect(NumberText.percent(200_000, of: 200_000) == 100)
        #expect(NumberText.percent(0, of: 0) == 0)
    }

    @Test func timesAreRFC3339() {
        #expect(TimeStamp.text(start + 7) == "2026-11-20T02:00:00.007Z")
        #expect(TimeStamp.text(0) == "1970-01-01T00:00:00.000Z")
        #expect(TimeStamp.text(951_782_400_000) == "2000-02-29T00:00:00.000Z")
        #expect(TimeStamp.text(-1) == "1969-12-31T23:59:59.999Z")
        #expect(TimeText.local(start).count == 19)
    }
}
