import Foundation
import Testing

@testable import TransferNetworking

/// The text of a form, with the brackets of names readable.
func form(_ value: any Encodable, _ encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) throws -> String {
    let text: String = try encoder.encode(value)
    return text.replacingOccurrences(of: "%5B", with: "[").replacingOccurrences(of: "%5D", with: "]")
}

@Suite("Forms")
struct FormEncoderTests {
    struct Inner: Encodable { var b = "x" }
    struct Outer: Encodable {
        var one = "one"
        var two = 2
        var three = true
        var four = [1, 2, 3]
        var five = ["a": "a"]
        var six = ["a": ["b": "b"]]
        var seven = Inner()
        var eight: Int?
    }

    @Test func aStructureIsWrittenSortedWithItsNestedValues() throws {
        let text = try form(Outer())
        #expect(
            text == "five[a]=a&four[]=1&four[]=2&four[]=3&one=one&seven[b]=x&six[a][b]=b&three=1&two=2")
    }

    @Test func unsortedPairsKeepTheOrderOfTheStructure() throws {
        let text = try form(Outer(), URLEncodedFormEncoder(alphabetizeKeyValuePairs: false))
        #expect(text == "one=one&two=2&three=1&four[]=1&four[]=2&four[]=3&five[a]=a&six[a][b]=b&seven[b]=x")
    }

    @Test func sortedPairsLeaveArraysInTheirOrder() throws {
        let text = try form(["b": ["z", "a", "m"], "a": ["2", "1"]])
        #expect(text == "a[]=2&a[]=1&b[]=z&b[]=a&b[]=m")
    }

    @Test func bytesAndTextAreTheSame() throws {
        let encoder = URLEncodedFormEncoder()
        let text: String = try encoder.encode(["a": "ü"])
        let data: Data = try encoder.encode(["a": "ü"])
        #expect(text == "a=%C3%BC")
        #expect(data == Data(text.utf8))
    }

    @Test func numbersOfAllKindsAreWrittenInDecimal() throws {
        struct Numbers: Encodable {
            var a = Int8.min
            var b = Int16.min
            var c = Int32.min
            var d = Int64.min
            var e = UInt8.max
            var f = UInt16.max
            var g = UInt32.max
            var h = UInt64.max
            var i = Float(0.5)
            var j = -1.25
            var k = UInt(7)
            var l = Int128.max
            var m = UInt128.max
        }
        let text = try form(Numbers())
        #expect(
            text == "a=-128&b=-32768&c=-2147483648&d=-9223372036854775808&e=255&f=65535&g=4294967295"
                + "&h=18446744073709551615&i=0.5&j=-1.25&k=7&l=170141183460469231731687303715884105727"
                + "&m=340282366920938463463374607431768211455")
    }

    @Test func wideNumbersAreWrittenInCollectionsToo() throws {
        #expect(try form(["a": [Int128.max], "b": [-1]]) == "a[]=\(Int128.max)&b[]=-1")
        #expect(try form(["a": UInt128.max]) == "a=\(UInt128.max)")
    }

    @Test func decimalsKeepTheirDigits() throws {
        let price = try #require(Decimal(string: "12345678901234567890.12345"))
        #expect(try form(["price": price]) == "price=12345678901234567890.12345")
        #expect(try form(["prices": [price]]) == "prices[]=12345678901234567890.12345")
    }

    @Test func urlsAndUUIDsAreTheirText() throws {
        let url = try #require(URL(string: "http://a.example/x?q=1"))
        let id = UUID()
        #expect(try form(["url": url]) == "url=http%3A//a.example/x?q%3D1")
        #expect(try form(["id": id]) == "id=\(id.uuidString)")
    }

    @Test func enumerationsAreTheirRawValues() throws {
        enum Size: String, Encodable { case small = "S" }
        enum Level: Int, Encodable { case high = 3 }
        #expect(try form(["size": Size.small]) == "size=S")
        #expect(try form(["levels": [Level.high, .high]]) == "levels[]=3&levels[]=3")
    }

    @Test func dictionariesWithNumbersAsKeysAreNamed() throws {
        #expect(try form([2: "b", 1: "a"]) == "1=a&2=b")
        #expect(try form(["x": [10: ["y": true]]]) == "x[10][y]=1")
    }

    @Test func arraysNestInArrays() throws {
        let value = ["a": [[1, 2], [3]]]
        #expect(try form(value) == "a[][]=1&a[][]=2&a[][]=3")
        let indexed = URLEncodedFormEncoder(arrayEncoding: .indexInBrackets)
        #expect(try form(value, indexed) == "a[0][0]=1&a[0][1]=2&a[1][0]=3")
    }

    @Test func structuresNestInArrays() throws {
        #expect(try form(["list": [Inner(b: "1"), Inner(b: "2")]]) == "list[][b]=1&list[][b]=2")
    }

    @Test func emptyCollectionsLeaveNoTrace() throws {
        let value: [String: [String]] = ["a": [], "b": ["1"], "c": []]
        #expect(try form(value) == "b[]=1")
        #expect(try form(["a": [String: [Int]](), "b": ["c": [1]]]) == "b[c][]=1")
        #expect(try form([String: String]()) == "")
        #expect(try form(["a": ""]) == "a=")
    }

    @Test(arguments: [
        [1, 2] as any Encodable & Sendable, "text" as any Encodable & Sendable, 1 as any Encodable & Sendable,
        Date() as any Encodable & Sendable, Set([1]) as any Encodable & Sendable,
        Optional<[String: String]>.none as any Encodable & Sendable,
    ])
    func aRootWithoutNamesIsRefused(root: any Encodable & Sendable) {
        #expect(throws: URLEncodedFormEncoder.Error.self) { try form(root) }
    }

    @Test func aRefusedRootIsDescribed() {
        let error = #expect(throws: URLEncodedFormEncoder.Error.self) { try form([1]) }
        #expect(error?.localizedDescription.contains("Array<Int>") == true)
    }

    @Test func subclassesThatEncodeIntoTheSameContainerAreMerged() throws {
        class Base: Encodable { let one = 1 }
        final class Derived: Base {
            enum Keys: CodingKey { case two }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(2, forKey: .two)
                try super.encode(to: encoder)
            }
        }
        #expect(try form(Derived()) == "one=1&two=2")
    }

    @Test func aSuperEncodersMembersStandBesideTheOthersUnlessItHasAKey() throws {
        class Base: Encodable { let one = 1 }
        final class Flat: Base {
            enum Keys: CodingKey { case two }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(2, forKey: .two)
                try super.encode(to: container.superEncoder())
            }
        }
        final class Named: Base {
            enum Keys: CodingKey { case two, base }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(2, forKey: .two)
                try super.encode(to: container.superEncoder(forKey: .base))
            }
        }
        #expect(try form(Flat()) == "one=1&two=2")
        #expect(try form(Named()) == "base[one]=1&two=2")
    }

    @Test func containersMadeByHandNestToAnyDepth() throws {
        struct Manual: Encodable {
            enum Keys: CodingKey { case root }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .root)
                var list = nested.nestedUnkeyedContainer(forKey: .root)
                try list.encode(1)
                var inner = list.nestedUnkeyedContainer()
                try inner.encode("a")
                var keyed = inner.nestedContainer(keyedBy: Keys.self)
                try keyed.encode(true, forKey: .root)
                var single = list.superEncoder().singleValueContainer()
                try single.encode(9)
                try list.encode(list.count)
            }
        }
        let text = try form(Manual(), URLEncodedFormEncoder(arrayEncoding: .indexInBrackets))
        #expect(
            text == "root[root][0]=1&root[root][1][0]=a&root[root][1][1][root]=1&root[root][2]=9&root[root][3]=3")
    }

    @Test func allValuesOfOneKeyAreEncoded() throws {
        class Base: Encodable {
            enum Keys: CodingKey { case same, base }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode("super", forKey: .same)
                var list = container.nestedUnkeyedContainer(forKey: .base)
                try list.encode(3)
            }
        }
        final class Derived: Base {
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode("own", forKey: .same)
                var list = container.nestedUnkeyedContainer(forKey: .same)
                try list.encode(1)
                var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .same)
                try nested.encode(2, forKey: .base)
                try super.encode(to: container.superEncoder())
                try super.encode(to: container.superEncoder(forKey: .same))
                try list.encode(4)
            }
        }
        #expect(
            try form(Derived())
                == "base[]=3&same=own&same[]=1&same[]=4&same[base]=2&same[base][]=3&same[same]=super&same=super")
    }

    @Test func anArrayByASuperEncoderIsNoForm() throws {
        struct List: Encodable {
            enum Keys: CodingKey {}
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                var list = container.superEncoder().unkeyedContainer()
                try list.encode(1)
            }
        }
        #expect(throws: URLEncodedFormEncoder.Error.self) { try form(List()) }
    }

    @Test func aContainerStaysOpenWhileOthersAreWritten() throws {
        struct Interleaved: Encodable {
            enum Keys: CodingKey { case a, b }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                var list = container.nestedUnkeyedContainer(forKey: .a)
                try list.encode(1)
                try container.encode("x", forKey: .b)
                try list.encode(2)
            }
        }
        #expect(try form(Interleaved()) == "a[]=1&a[]=2&b=x")
    }

    @Test func aKeyEncodedTwiceHasItsLastValue() throws {
        struct Twice: Encodable {
            enum Keys: CodingKey { case a }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(1, forKey: .a)
                try container.encode(2, forKey: .a)
            }
        }
        #expect(try form(Twice()) == "a=2")
    }

    @Test func anEncodersPathNamesTheWayToTheValue() throws {
        struct Failing: Encodable {
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue(
                    self, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: ""))
            }
        }
        let error = #expect(throws: EncodingError.self) { try form(["a": [[Failing()]]]) }
        guard case .invalidValue(_, let context) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["a", "Index 0", "Index 0"])
    }

    @Test func unreservedCharactersQuestionMarkAndSlashStayAndAllOthersAreEscaped() throws {
        let unreserved = "ABCXYZabcxyz0189-._~?/"
        #expect(try form(["k": unreserved]) == "k=\(unreserved)")
        let delimiters = ":#[]@!$&'()*+,;=%\"<>\\^`{|}\n"
        let text: String = try URLEncodedFormEncoder().encode(["k": delimiters])
        #expect(
            text == "k=%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%25%22%3C%3E%5C%5E%60%7B%7C%7D%0A")
    }

    @Test func namesAreEscapedAsValuesAre() throws {
        let text: String = try URLEncodedFormEncoder().encode(["a b&=": ["ü"]])
        #expect(text == "a%20b%26%3D%5B%5D=%C3%BC")
    }

    @Test func textOfAllScriptsIsEscapedByItsBytes() throws {
        #expect(
            try form(["k": "français العربية 日本 😃"])
                == "k=fran%C3%A7ais%20%D8%A7%D9%84%D8%B9%D8%B1%D8%A8%D9%8A%D8%A9%20%E6%97%A5%E6%9C%AC%20%F0%9F%98%83")
    }

    @Test func thousandsOfPairsAreWrittenOnce() throws {
        let value = Dictionary(uniqueKeysWithValues: (0..<5000).map { ("k\($0)", $0) })
        let pairs = try form(value).split(separator: "&")
        #expect(pairs.count == 5000)
        #expect(pairs == pairs.sorted())
    }
}
