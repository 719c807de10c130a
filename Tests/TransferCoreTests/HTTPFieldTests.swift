import Testing
import TransferCore

@Suite struct HTTPDateTests {
    /// The three forms of one date, as in RFC 9110 §5.6.7.
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func readsTheThreeForms(_ text: String) {
        #expect(HTTPDate.parse(text) == 784_111_777)
    }

    @Test(arguments: [
        "", "GMT", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Xyz 1994 08:49:37 GMT",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 99999 08:49:37 GMT", "1994-11-06T08:49:37Z", "784111777", "Sun, 06 Nov -994 08:49:37 GMT",
    ])
    func refusesTheRest(_ text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test func twoDigitYearsLieAtMostFiftyYearsAhead() {
        let now: Int64 = 1_795_000_000  // November 2026
        #expect(HTTPDate.parse("Friday, 01-Jan-70 00:00:00 GMT", now: now) == 3_155_760_000)
        #expect(HTTPDate.parse("Thursday, 01-Jan-99 00:00:00 GMT", now: now) == 915_148_800)
        #expect(HTTPDate.parse("Friday, 01-Jan-27 00:00:00 GMT", now: now) == 1_798_761_600)
    }

    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (-11_671_171_200, "Sun, 27 Feb 1600 00:00:00 GMT"),
        ] as [(Int64, String)])
    func writesTheFixedForm(_ seconds: Int64, _ text: String) {
        #expect(HTTPDate.format(seconds) == text)
    }

    @Test func everyDayOfManyCenturiesComesBack() {
        // Dates from 1602 to 4600, at varying times of day.
        for day in stride(from: Int64(-134_000), to: 960_000, by: 13) {
            let seconds = day * 86_400 + (day &* 7919) % 86_400
            #expect(HTTPDate.parse(HTTPDate.format(seconds)) == seconds)
        }
    }
}

@Suite struct ContentRangeTests {
    @Test(
        arguments: [
            ("bytes 0-499/1234", 0..<500, 1234), ("bytes 500-999/*", 500..<1000, nil), ("BYTES 0-0/1", 0..<1, 1),
            ("bytes */1234", nil, 1234), ("bytes 42-1233/1234", 42..<1234, 1234), ("bytes */0", nil, 0),
        ] as [(String, Range<Int64>?, Int64?)])
    func reads(_ text: String, _ range: Range<Int64>?, _ total: Int64?) throws {
        let contentRange = try #require(ContentRange(text))
        #expect(contentRange.range == range && contentRange.total == total)
    }

    @Test(arguments: [
        "", "bytes", "bytes 0-499", "items 0-1/2", "bytes 5-4/10", "bytes 0-10/10", "bytes -5/10", "bytes 5-/10",
        "bytes 0-1/2/3", "bytes a-b/c", "bytes=0-1/2", "bytes 0-1/-2", "bytes 0-9223372036854775807/*",
        "bytes 0-1-2/5", "bytes 0-99999999999999999999/*",
        "bytes +0-4/10", "bytes 0-+4/10", "bytes 0-4/+10",
    ])
    func refusesTheRest(_ text: String) {
        #expect(ContentRange(text) == nil)
    }
}

@Suite struct ContentDispositionTests {
    @Test(
        arguments: [
            ("attachment; filename=example.html", "example.html"),
            (#"INLINE; FILENAME= "an example.html""#, "an example.html"),
            ("attachment; filename*= UTF-8''%e2%82%ac%20rates", "€ rates"),
            (#"attachment; filename="EURO rates"; filename*=utf-8''%e2%82%ac%20rates"#, "€ rates"),
            (#"attachment; filename*=utf-8''%e2%82%ac; filename="EURO""#, "€"),
            (#"attachment; filename="a\"b\\c.txt""#, #"a"b\c.txt"#),
            (#"attachment; filename="a;b=c.txt"; size=3"#, "a;b=c.txt"),
            ("attachment; filename*=iso-8859-1'en'%A3%20rates", "£ rates"),
            (#"attachment; filename*=UTF-8''%ff; filename="plain""#, "plain"),
            (#"attachment; filename*=koi8-r''%c1; filename=plain"#, "plain"),
            ("attachment;filename=a.txt ;x=y", "a.txt"),
            (#"attachment; foo="; filename=wrong"; filename=right"#, "right"),
            (#"attachment; filename="foo%20bar.html""#, "foo%20bar.html"),
            (#"attachment; filename="unfinished"#, "unfinished"),
            (#"attachment; filename ="x.txt""#, "x.txt"),
        ] as [(String, String)])
    func findsTheName(_ value: String, _ name: String) {
        #expect(ContentDisposition.fileName(value) == name)
    }

    @Test(arguments: [
        "", "attachment", "attachment;", "inline; name=x", "attachment; filename", ";;;", "attachment; filename*=abc",
    ])
    func saysWhenThereIsNone(_ value: String) {
        #expect(ContentDisposition.fileName(value) == nil)
    }
}

@Suite struct ResponseHeadTests {
    let head = ResponseHead(
        status: 200,
        block: Array("Content-Length: 12\r\nETAG:\t\"a\" \r\nX: 1\nX: 2\r\nbroken\r\nEmpty:\r\n".utf8)
            + Array("Latin: caf".utf8) + [0xE9, 0x0D, 0x0A])

    @Test func findsFieldsWithoutRegardToCase() {
        #expect(head.value("etag") == "\"a\"")
        #expect(head.value("x") == "1", "the first of several")
        #expect(head.value("Empty") == "")
        #expect(head.value("Latin") == "café")
        #expect(head.value("Missing") == nil)
        #expect(head.value("broken") == nil)
        #expect(head.fields.map(\.name) == ["Content-Length", "ETAG", "X", "X", "Empty", "Latin"])
    }

    @Test(
        arguments: [
            ("0", 0), ("12", 12), ("-1", nil), ("12, 12", nil), ("x", nil), ("", nil), ("99999999999999999999", nil),
        ] as [(String, Int64?)])
    func readsTheLength(_ text: String, _ length: Int64?) {
        #expect(ResponseHead(status: 200, fields: [HeaderField("Content-Length", text)]).contentLength == length)
    }

    @Test(
        arguments: [("gzip", "gzip"), ("identity", nil), ("Identity", nil), ("", nil), ("br", "br")]
            as [(String, String?)])
    func readsTheCoding(_ text: String, _ coding: String?) {
        #expect(ResponseHead(status: 200, fields: [HeaderField("Content-Encoding", text)]).contentCoding == coding)
    }

    /// Several fields are one list (RFC 9110 §5.3). Scripts send `none` for no coding.
    @Test(
        arguments: [
            (["deflate", "gzip"], "deflate, gzip"), (["deflate, gzip"], "deflate, gzip"), (["none"], nil),
            (["None", "gzip"], "gzip"), (["identity", "identity"], nil), (["gzip,, identity"], "gzip"), ([], nil),
        ] as [([String], String?)])
    func codingsAreOneList(_ fields: [String], _ coding: String?) {
        let head = ResponseHead(status: 200, fields: fields.map { HeaderField("Content-Encoding", $0) })
        #expect(head.contentCoding == coding)
    }

    @Test func aBlockWithoutItsLastLineEndIsRead() {
        #expect(ResponseHead(status: 200, block: Array("A: 1\r\nB: 2".utf8)).value("B") == "2")
        #expect(ResponseHead(status: 200, block: []).fields.isEmpty)
    }
}

@Suite struct ValidatorTests {
    static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"

    private func validator(_ etag: String?, _ modified: String?, date: String?) -> Validator? {
        var fields: [HeaderField] = []
        if let etag { fields.append(HeaderField("ETag", etag)) }
        if let modified { fields.append(HeaderField("Last-Modified", modified)) }
        if let date { fields.append(HeaderField("Date", date)) }
        return Validator(ResponseHead(status: 200, fields: fields))
    }

    /// RFC 9110 §6.6.1: without a Date the time of receipt replaces it, and two clocks are then compared.
    @Test(arguments: [(784_111_777 + 3599, false), (784_111_777 + 3600, true)] as [(Int64, Bool)])
    func theTimeOfReceiptStandsForTheDate(_ received: Int64, _ isStrong: Bool) {
        var head = ResponseHead(status: 200, fields: [HeaderField("Last-Modified", Self.modified)])
        #expect(Validator(head)?.isDateStrong == false)
        head.received = received
        #expect(Validator(head)?.isDateStrong == isStrong)
    }

    /// RFC 9110 §13.1.5: a strong tag is used, or else a strong date (§8.8.2.2). A weak tag rules out both.
    @Test(
        arguments: [
            ("\"a\"", modified, "Sun, 06 Nov 1994 09:49:37 GMT", "\"a\""),
            ("\"\"", nil, nil, "\"\""),
            ("W/\"a\"", nil, nil, nil),
            ("W/\"a\"", modified, "Sun, 06 Nov 1994 09:49:37 GMT", nil),
            (nil, modified, "Sun, 06 Nov 1994 08:50:37 GMT", modified),
            (nil, modified, "Sun, 06 Nov 1994 08:50:36 GMT", nil),
            (nil, modified, "Sun, 06 Nov 1994 08:49:37 GMT", nil),
            (nil, modified, "Sun, 06 Nov 1994 07:49:37 GMT", nil),
            (nil, modified, nil, nil),
            (nil, modified, "yesterday", nil),
            (nil, "yesterday", "Sun, 06 Nov 1994 09:49:37 GMT", nil),
            ("unquoted", modified, "Sun, 06 Nov 1994 09:49:37 GMT", modified),
        ] as [(String?, String?, String?, String?)])
    func continuesOnlyByAStrongValidator(_ etag: String?, _ modified: String?, _ date: String?, _ ifRange: String?) {
        #expect(validator(etag, modified, date: date)?.ifRange == ifRange)
    }

    /// Fields that may occur once (RFC 9110 §5.3): the second field may come from another party than the server.
    @Test(
        arguments: [
            ("ETag: \"a\"\r\nETag: \"a\"\r\n", "\"a\""), ("ETag: \"a\"\r\nX: y\r\netag:\"b\"\r\n", nil),
            ("ETag: \"a\"\r\nETag: \"b\"\r\nLast-Modified: \(modified)\r\n", nil),
            ("Last-Modified: \(modified)\r\nLast-Modified: yesterday\r\n", nil),
            ("ETag: \"a\"\r\nLast-Modified: \(modified)\r\nLast-Modified: yesterday\r\n", "\"a\""),
        ] as [(String, String?)])
    func aVersionThatIsNamedTwiceAndDifferentlyIsNoVersion(_ block: String, _ expected: String?) {
        let head = ResponseHead(status: 200, block: Array(block.utf8))
        #expect(Validator(head)?.description == expected)
    }

    @Test func thereIsNoneWithoutTagAndDate() {
        #expect(validator(nil, nil, date: Self.modified) == nil)
        #expect(validator("unquoted", nil, date: nil) == nil)
    }

    @Test(
        arguments: [
            ("\"a\"", nil, "\"a\"", nil, true), ("\"a\"", nil, "\"b\"", nil, false),
            ("\"a\"", nil, "W/\"a\"", nil, false),
            ("\"a\"", "1", "\"a\"", "2", true), (nil, "1", nil, "1", true), (nil, "1", nil, "2", false),
            ("\"a\"", "1", nil, "2", false), ("\"a\"", nil, nil, "2", true),
        ] as [(String?, String?, String?, String?, Bool)])
    func comparesWhatBothHave(
        _ tag: String?, _ date: String?, _ otherTag: String?, _ otherDate: String?, _ mayEqual: Bool
    ) {
        let one = Validator(etag: tag, lastModified: date)
        let other = Validator(etag: otherTag, lastModified: otherDate)
        #expect(one.mayEqual(other) == mayEqual && other.mayEqual(one) == mayEqual)
    }
}
