import Foundation
import FoundationNetworking
import TransferCore

extension HTTPURLResponse {
    /// The name of the text's encoding (RFC 9110 §8.3.2). Foundation's `textEncodingName` on Linux does not find a name
    /// in capitals or after another parameter.
    var characterSet: String? {
        guard let type = value(forHTTPHeaderField: "Content-Type") else { return nil }
        return FieldParameters.of(type).first { $0.name.lowercased() == "charset" }?.value
    }
}

extension String.Encoding {
    /// Makes the encoding for a name in IANA's registry of character sets, or for an alias that servers use.
    init?(characterSet name: String) {
        guard let encoding = Self.named[name.lowercased()] else { return nil }
        self = encoding
    }

    private static let named: [String: String.Encoding] = {
        var result: [String: String.Encoding] = [:]
        for (encoding, names) in names {
            for name in names.split(separator: " ") { result[String(name)] = encoding }
        }
        return result
    }()

    /// Returns an encoding that Foundation has no constant for: CoreFoundation's number with a bit that marks it.
    private static func number(_ number: UInt) -> String.Encoding { .init(rawValue: 0x8000_0000 | number) }

    private static let names: [(String.Encoding, String)] = [
        (.utf8, "utf-8 utf8 unicode-1-1-utf-8 csutf8"),
        (.ascii, "us-ascii ascii iso-ir-6 ansi_x3.4-1968 ansi_x3.4-1986 iso646-us iso_646.irv:1991 us csascii"),
        (.isoLatin1, "iso-8859-1 iso8859-1 iso_8859-1 iso_8859-1:1987 latin1 l1 ibm819 cp819 csisolatin1"),
        (.isoLatin2, "iso-8859-2 iso8859-2 iso_8859-2 latin2 l2 csisolatin2"),
        (number(0x203), "iso-8859-3 iso8859-3 iso_8859-3 latin3 l3 csisolatin3"),
        (number(0x204), "iso-8859-4 iso8859-4 iso_8859-4 latin4 l4 csisolatin4"),
        (number(0x205), "iso-8859-5 iso8859-5 iso_8859-5 cyrillic csisolatincyrillic"),
        (number(0x206), "iso-8859-6 iso8859-6 iso_8859-6 arabic asmo-708 ecma-114 csisolatinarabic"),
        (number(0x207), "iso-8859-7 iso8859-7 iso_8859-7 greek greek8 ecma-118 elot_928 csisolatingreek"),
        (number(0x208), "iso-8859-8 iso8859-8 iso_8859-8 iso-8859-8-i hebrew csisolatinhebrew"),
        (number(0x209), "iso-8859-9 iso8859-9 iso_8859-9 latin5 l5 csisolatin5"),
        (number(0x20A), "iso-8859-10 iso8859-10 latin6 l6 csisolatin6"),
        (number(0x20B), "iso-8859-11 iso8859-11 tis-620"),
        (number(0x20D), "iso-8859-13 iso8859-13"),
        (number(0x20E), "iso-8859-14 iso8859-14 latin8 l8"),
        (number(0x20F), "iso-8859-15 iso8859-15 iso_8859-15 latin9 latin-9"),
        (number(0x210), "iso-8859-16 iso8859-16 latin10 l10"),
        (.windowsCP1250, "windows-1250 cp1250 x-cp1250"),
        (.windowsCP1251, "windows-1251 cp1251 x-cp1251"),
        (.windowsCP1252, "windows-1252 cp1252 x-cp1252"),
        (.windowsCP1253, "windows-1253 cp1253 x-cp1253"),
        (.windowsCP1254, "windows-1254 cp1254 x-cp1254"),
        (number(0x505), "windows-1255 cp1255 x-cp1255"),
        (number(0x506), "windows-1256 cp1256 x-cp1256"),
        (number(0x507), "windows-1257 cp1257 x-cp1257"),
        (number(0x508), "windows-1258 cp1258 x-cp1258"),
        (number(0x41D), "windows-874 dos-874"),
        (number(0xA02), "koi8-r koi8 koi cskoi8r"),
        (number(0xA08), "koi8-u"),
        (number(0x400), "ibm437 cp437 437 cspc8codepage437"),
        (number(0x410), "ibm850 cp850 850 cspc850multilingual"),
        (number(0x412), "ibm852 cp852 852"),
        (number(0x41B), "ibm866 cp866 866 csibm866"),
        // The number is needed, as the constant decodes another encoding on Linux.
        (number(0), "macintosh mac x-mac-roman csmacintosh"),
        (number(7), "x-mac-cyrillic"),
        (.utf16, "utf-16 csutf16 iso-10646-ucs-2 ucs-2 unicode"),
        (.utf16BigEndian, "utf-16be csutf16be"),
        (.utf16LittleEndian, "utf-16le csutf16le"),
        (.utf32, "utf-32 csutf32 iso-10646-ucs-4 ucs-4"),
        (.utf32BigEndian, "utf-32be csutf32be"),
        (.utf32LittleEndian, "utf-32le csutf32le"),
        // Microsoft's superset, which the name means on the web.
        (number(0x420), "shift_jis shift-jis sjis x-sjis ms_kanji csshiftjis windows-31j cp932 ms932"),
        (.iso2022JP, "iso-2022-jp csiso2022jp"),
        // Foundation on Linux cannot decode this encoding. Such a response fails rather than yield a wrong text.
        (.japaneseEUC, "euc-jp x-euc-jp cseucpkdfmtjapanese"),
        // Each encoding is a superset of the previous ones.
        (number(0x632), "gb18030 gbk gb2312 gb_2312-80 x-gbk cp936 ms936 windows-936 csgb2312 chinese"),
        (number(0xA06), "big5-hkscs"),
        (number(0x423), "big5 big-5 cn-big5 x-x-big5 csbig5 cp950"),
        (number(0x422), "euc-kr ks_c_5601-1987 ks_c_5601-1989 ksc5601 korean cseuckr windows-949 cp949 uhc"),
        (number(0x840), "iso-2022-kr csiso2022kr"),
    ]
}
