import Foundation
import Testing

@testable import TransferNetworking

@Suite("Strategies of forms")
struct FormEncoderStrategiesTests {
    typealias Encoder = URLEncodedFormEncoder

    @Test func theDefaultsAreTheDocumentedOnes() throws {
        let encoder = Encoder()
        #expect(encoder.alphabetizeKeyValuePairs)
        #expect(encoder.allowedCharacters == .afURLQueryAllowed)
        struct All: Encodable {
            var list = [1]
            var flag = true
            var bytes = Data([1, 2, 3])
            var when = Date(timeIntervalSinceReferenceDate: 123.5)
            var camelCase = ["key": "a b"]
            var none: Int?
        }
        #expect(try form(All(), encoder) == "bytes=AQID&camelCase[key]=a%20b&flag=1&list[]=1&when=123.5")
    }

    @Test(arguments: [
        (Encoder.ArrayEncoding.brackets, "a[]=x&a[]=y"), (.noBrackets, "a=x&a=y"),
        (.indexInBrackets, "a[0]=x&a[1]=y"), (.custom { "\($0)-\($1 + 1)" }, "a-1=x&a-2=y"),
    ])
    func arrays(encoding: Encoder.ArrayEncoding, text: String) throws {
        #expect(try form(["a": ["x", "y"]], Encoder(arrayEncoding: encoding)) == text)
    }

    @Test(arguments: [(Encoder.BoolEncoding.numeric, "a=1&b[]=0"), (.literal, "a=true&b[]=false")])
    func truth(encoding: Encoder.BoolEncoding, text: String) throws {
        struct Flags: Encodable {
            var a = true
            var b = [false]
        }
        #expect(try form(Flags(), Encoder(boolEncoding: encoding)) == text)
    }

    @Test func numbersAreNeverTakenForTruth() throws {
        #expect(try form(["a": 1, "b": 0], Encoder(boolEncoding: .literal)) == "a=1&b=0")
    }

    @Test(arguments: [
        (Encoder.DataEncoding.base64, "a=%2BA%3D%3D"), (.deferredToData, "a[]=248"), (.custom { "\($0.count)" }, "a=1"),
    ])
    func bytes(encoding: Encoder.DataEncoding, text: String) throws {
        #expect(try form(["a": Data([248])], Encoder(dataEncoding: encoding)) == text)
    }

    static let formatter: DateFormatter = {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy/MM/dd"
        return formatter
    }()

    @Test(arguments: [
        (Encoder.DateEncoding.deferredToDate, "-978307076.5"), (.secondsSince1970, "123.5"),
        (.millisecondsSince1970, "123500.0"), (.iso8601, "1970-01-01T00%3A02%3A03Z"),
        (.formatted(formatter), "1970/01/01"), (.custom { "at\(Int($0.timeIntervalSince1970))" }, "at123"),
    ])
    func dates(encoding: Encoder.DateEncoding, text: String) throws {
        let date = Date(timeIntervalSince1970: 123.5)
        let encoder = Encoder(dateEncoding: encoding)
        #expect(try form(["a": date], encoder) == "a=\(text)")
        #expect(try form(["a": [date]], encoder) == "a[]=\(text)")
        #expect(try form(["a": ["b": date as Date?]], encoder) == "a[b]=\(text)")
    }

    @Test func anErrorOfACustomStrategyIsPassedOn() {
        let dates = Encoder(dateEncoding: .custom { _ in throw TestFailure() })
        #expect(throws: TestFailure.self) { try form(["a": Date()], dates) }
        let bytes = Encoder(dataEncoding: .custom { _ in throw TestFailure() })
        #expect(throws: TestFailure.self) { try form(["a": [Data()]], bytes) }
    }

    @Test(arguments: [
        (Encoder.KeyEncoding.useDefaultKeys, "oneTwoThree"), (.convertToSnakeCase, "one_two_three"),
        (.convertToKebabCase, "one-two-three"), (.capitalized, "OneTwoThree"), (.uppercased, "ONETWOTHREE"),
        (.lowercased, "onetwothree"), (.custom { "<\($0)>" }, "%3ConeTwoThree%3E"),
    ])
    func keys(encoding: Encoder.KeyEncoding, key: String) throws {
        let encoder = Encoder(keyEncoding: encoding)
        #expect(try form(["oneTwoThree": "oneTwo"], encoder) == "\(key)=oneTwo")
        #expect(try form(["oneTwoThree": ["oneTwoThree": ["oneTwo"]]], encoder) == "\(key)[\(key)][]=oneTwo")
    }

    @Test(arguments: [
        ("", ""), ("a", "a"), ("One", "one"), ("URL", "url"), ("aURLString", "a_url_string"),
        ("myURL", "my_url"), ("isOK2Go", "is_ok2_go"), ("already_snake", "already_snake"), ("half_Snake", "half_snake"),
        ("_private", "_private"), ("éÉa", "é_éa"),
    ])
    func snakeCaseSplitsWordsAtCapitals(key: String, snake: String) {
        #expect(Encoder.KeyEncoding.convertToSnakeCase.encode(key) == snake)
    }

    @Test(arguments: [
        (Encoder.KeyPathEncoding.brackets, "a[b][c][]=1"), (.dots, "a.b.c[]=1"),
        (Encoder.KeyPathEncoding { "/\($0)" }, "a/b/c[]=1"),
    ])
    func keyPaths(encoding: Encoder.KeyPathEncoding, text: String) throws {
        #expect(try form(["a": ["b": ["c": [1]]]], Encoder(keyPathEncoding: encoding)) == text)
    }

    struct Optionals: Encodable {
        var bool: Bool?
        var string: String?
        var double: Double?
        var float: Float?
        var int: Int?
        var int8: Int8?
        var int16: Int16?
        var int32: Int32?
        var int64: Int64?
        var uint: UInt?
        var uint8: UInt8?
        var uint16: UInt16?
        var uint32: UInt32?
        var uint64: UInt64?
        var int128: Int128?
        var uint128: UInt128?
        var date: Date?
        var list: [Int]?
        var present: Int? = 1

        static let names = [
            "bool", "date", "double", "float", "int", "int128", "int16", "int32", "int64", "int8", "list", "present",
            "string", "uint", "uint128", "uint16", "uint32", "uint64", "uint8",
        ]
    }

    @Test(arguments: [
        (Encoder.NilEncoding.dropKey, nil), (.dropValue, ""), (.null, "null"), (Encoder.NilEncoding { "nil" }, "nil"),
    ])
    func optionalPropertiesOfAllTypes(encoding: Encoder.NilEncoding, value: String?) throws {
        let text = try form(Optionals(), Encoder(nilEncoding: encoding))
        let pairs = Optionals.names.compactMap { name in
            name == "present" ? "present=1" : value.map { "\(name)=\($0)" }
        }
        #expect(Set(text.split(separator: "&").map(String.init)) == Set(pairs))
        #expect(text.split(separator: "&").count == pairs.count)
    }

    @Test(arguments: [
        (Encoder.NilEncoding.dropKey, "a[0]=1&a[1]=2&d[y]=3"), (.null, "a[0]=1&a[1]=null&a[2]=2&d[x]=null&d[y]=3"),
        (.dropValue, "a[0]=1&a[1]=&a[2]=2&d[x]=&d[y]=3"),
    ])
    func nilInCollections(encoding: Encoder.NilEncoding, text: String) throws {
        struct Collections: Encodable {
            var a: [Int?] = [1, nil, 2]
            var d: [String: Int?] = ["x": nil, "y": 3]
        }
        #expect(try form(Collections(), Encoder(arrayEncoding: .indexInBrackets, nilEncoding: encoding)) == text)
    }

    @Test func nilEncodedByHandReachesTheStrategy() throws {
        struct Manual: Encodable {
            enum Keys: CodingKey { case a, b }
            func encode(to encoder: any Swift.Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encodeNil(forKey: .a)
                var list = container.nestedUnkeyedContainer(forKey: .b)
                try list.encodeNil()
            }
        }
        #expect(try form(Manual(), Encoder(nilEncoding: .null)) == "a=null&b[]=null")
        #expect(try form(Manual()) == "")
    }

    @Test(arguments: [(Encoder.SpaceEncoding.percentEscaped, "a%20b=c%20%2B%20d"), (.plusReplaced, "a+b=c+%2B+d")])
    func spaces(encoding: Encoder.SpaceEncoding, text: String) throws {
        #expect(try form(["a b": "c + d"], Encoder(spaceEncoding: encoding)) == text)
    }

    @Test func theAllowedCharactersCanBeChosen() throws {
        let none = Encoder(allowedCharacters: CharacterSet())
        #expect(try form(["a": "b-"], none) == "%61=%62%2D")
        let more = Encoder(allowedCharacters: .afURLQueryAllowed.union(CharacterSet(charactersIn: "[]:é ")))
        let text: String = try more.encode(["a": ["b:é c"]])
        #expect(text == "a[]=b:%C3%A9%20c")
    }
}
