import Testing

@testable import TransferUpload

struct StructuredFieldTests {
    @Test(arguments: [
        ("?1", StructuredField.Value.boolean(true)), ("?0", .boolean(false)), (" ?1  ", .boolean(true)),
        ("?1;a;b=2;c=\"x\"", .boolean(true)), ("0", .integer(0)), ("-17", .integer(-17)), ("0042", .integer(42)),
        ("999999999999999", .integer(999_999_999_999_999)), ("1.5", .decimal), ("-123456789012.125", .decimal),
        ("\"a \\\"b\\\\\"", .string("a \"b\\")), ("*a/b:c", .token("*a/b:c")), (":aGk=:", .bytes([0x68, 0x69])),
        (":aGk:", .bytes([0x68, 0x69])), ("::", .bytes([])), ("@1659578233", .date(1_659_578_233)),
        ("%\"f%c3%bc\"", .displayString("fü")),
    ])
    func readsAnItemOfEachType(text: String, value: StructuredField.Value) {
        #expect(StructuredField.item(text) == value)
    }

    @Test(arguments: [
        "", " ", "?", "?2", "?10", "? 1", "true", "1 2", "1,2", "1000000000000000", "--1", "-", "+1", "0x10", "1.",
        "1.2345", "1234567890123.1", "\"a", "\"a\\n\"", "\"ü\"", ":aGk", ":a*k=:", "@1.5", "%\"%C3%BC\"", "%\"%ff\"",
        "1;", "1;A", "1;a=", "\t1", "12 a", "(1 2)",
    ])
    func malformedItemsAreIgnored(text: String) {
        // `true` is a token, and a token is an item, but not of a type that the protocol uses.
        if text == "true" {
            #expect(StructuredField.item(text) == .token("true"))
        } else {
            #expect(StructuredField.item(text) == nil)
        }
    }

    @Test func readsADictionaryWithParametersInnerListsAndRepeatedKeys() {
        let members = StructuredField.dictionary("a=1;p=2, b;q , c=(1 \"x\";y);z,\td=?0, a=7, *e.f-1_=tok")
        #expect(
            members == [
                "a": .integer(7), "b": .boolean(true), "c": .innerList, "d": .boolean(false), "*e.f-1_": .token("tok"),
            ])
        #expect(StructuredField.dictionary("") == [:])
        #expect(StructuredField.dictionary("c=()") == ["c": .innerList])
    }

    @Test(arguments: ["a=1,", "a=1 b=2", "A=1", "a=", "=1", "a=(1 2", "a=(1\"x\")", "a=1,,b=2", "a=1, 2", "a=1;;b"])
    func aBrokenDictionaryIsIgnored(text: String) {
        #expect(StructuredField.dictionary(text) == nil)
    }

    @Test(arguments: [
        "max-size=?1", "max-size=1, max-age=\"60\"", "max-size=-1", "max-append-size=1.5", "min-size", "max-size=1,",
    ])
    func ignoresAllLimitsWhenOneIsOfAnotherType(text: String) {
        #expect(UploadLimits(text, version: .eight) == nil)
    }

    @Test func readsLimitsAndIgnoresUnknownOnes() {
        let eight = UploadLimits(
            "max-size=10, min-size=1;x, max-append-size=5, min-append-size=2, max-age=60, expires=?1, other=(1)",
            version: .eight)
        #expect(eight?.maxSize == 10)
        #expect(eight?.minSize == 1)
        #expect(eight?.maxAppendSize == 5)
        #expect(eight?.minAppendSize == 2)
        #expect(eight?.lifetime == 60)
        #expect(UploadLimits("expires=30, max-age=60", version: .six)?.lifetime == 30)
    }
}
