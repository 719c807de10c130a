import Foundation
import FoundationNetworking
import Testing
import TransferTestSupport

@testable import TransferNetworking

@Suite("String serializer")
struct SerializerOfStringsTests {
    @Test(
        arguments: [
            ("utf-8", [0xC3, 0xA9], "é"), ("UTF-8", [0xC3, 0xA9], "é"), ("us-ascii", [0x41], "A"),
            ("iso-8859-1", [0xE9], "é"), ("latin1", [0xE9], "é"), ("ISO-8859-2", [0xE8], "č"),
            ("iso-8859-3", [0xC6], "Ĉ"), ("iso-8859-4", [0xE0], "ā"), ("iso-8859-5", [0xD4], "д"),
            ("iso-8859-6", [0xC4], "ؤ"), ("iso-8859-7", [0xC1], "Α"), ("iso-8859-8", [0xE0], "א"),
            ("iso-8859-9", [0xD0], "Ğ"), ("iso-8859-10", [0xAA], "Š"), ("iso-8859-11", [0xA1], "ก"),
            ("iso-8859-13", [0xE8], "č"), ("iso-8859-14", [0xA1], "Ḃ"), ("iso-8859-15", [0xA4], "€"),
            ("iso-8859-16", [0xA4], "€"), ("windows-1250", [0xE8], "č"), ("windows-1251", [0xE4], "д"),
            ("windows-1252", [0x80], "€"), ("windows-1253", [0xC1], "Α"), ("windows-1254", [0xD0], "Ğ"),
            ("windows-1255", [0xE0], "א"), ("windows-1256", [0xC4], "ؤ"), ("windows-1257", [0xE8], "č"),
            ("windows-1258", [0xFE], "₫"), ("windows-874", [0xA1], "ก"), ("koi8-r", [0xC4], "д"),
            ("koi8-u", [0xA4], "є"), ("ibm437", [0x82], "é"), ("ibm850", [0x82], "é"), ("ibm852", [0x9F], "č"),
            ("ibm866", [0xA4], "д"), ("macintosh", [0x8E], "é"), ("x-mac-cyrillic", [0xE4], "д"),
            ("utf-16", [0xFE, 0xFF, 0, 0xE9], "é"), ("utf-16", [0xFF, 0xFE, 0xE9, 0], "é"),
            ("utf-16be", [0, 0xE9], "é"), ("utf-16le", [0xE9, 0], "é"), ("utf-32be", [0, 0, 0, 0xE9], "é"),
            ("utf-32le", [0xE9, 0, 0, 0], "é"), ("utf-32", [0, 0, 0xFE, 0xFF, 0, 0, 0, 0xE9], "é"),
            ("shift_jis", [0x93, 0xFA, 0x96, 0x7B], "日本"), ("cp932", [0x87, 0x40], "①"),
            ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x4B, 0x5C, 0x1B, 0x28, 0x42], "日本"),
            ("gb2312", [0xC4, 0xE3], "你"), ("gbk", [0x81, 0x40], "丂"),
            ("gb18030", [0x81, 0x30, 0x8A, 0x32], "å"),
            ("big5", [0xA4, 0xA4], "中"), ("big5-hkscs", [0xA4, 0xA4], "中"), ("euc-kr", [0xB0, 0xA1], "가"),
            ("cp949", [0x81, 0x41], "갂"),
            ("iso-2022-kr", [0x1B, 0x24, 0x29, 0x43, 0x0E, 0x30, 0x21, 0x0F], "가"),
        ] as [(String, [UInt8], String)])
    func textIsReadInTheEncodingOfTheAnswer(name: String, bytes: [UInt8], text: String) throws {
        #expect(try StringResponseSerializer().value(Data(bytes), type: "text/plain; charset=\(name)") == text)
    }

    @Test(
        arguments: [
            "text/plain; charset=utf-8", "text/plain;charset=\"UTF-8\"", "text/html; Charset=utf8",
            "text/html; level=1; CHARSET=utf-8", "text/html; x=\"a;charset=koi8-r\"; charset=utf-8 ; y=z",
        ])
    func theNameIsFoundHoweverItIsWritten(type: String) throws {
        #expect(try StringResponseSerializer().value(Data([0xC3, 0xA9]), type: type) == "é")
    }

    @Test(arguments: [nil, "text/plain", "text/plain; charset=klingon", "text/plain; x=\"charset=utf-8\""])
    func textIsLatin1WhereNoKnownEncodingIsNamed(type: String?) throws {
        #expect(try StringResponseSerializer().value(Data([0xC3, 0xA9]), type: type) == "Ã©")
    }

    @Test func anEncodingThatIsAskedForWins() throws {
        let serializer = StringResponseSerializer(encoding: .utf8)
        #expect(try serializer.value(Data([0xC3, 0xA9]), type: "text/plain; charset=iso-8859-1") == "é")
    }

    @Test(arguments: [("utf-8", String.Encoding.utf8), ("us-ascii", .ascii), ("euc-jp", .japaneseEUC)])
    func bytesThatAreNoTextInTheEncodingFail(name: String, encoding: String.Encoding) {
        let failure = failureReason {
            try StringResponseSerializer().value(Data([0x41, 0xFF]), type: "text/plain; charset=\(name)")
        }
        guard case .stringSerializationFailed(encoding)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }
}
