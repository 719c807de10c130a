import Foundation
import FoundationNetworking
import Testing
import TransferTestSupport

@testable import TransferNetworking

@Suite("Serializers")
struct SerializerTests {
    /// A serializer with the required members only.
    struct Bare: ResponseSerializer {
        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> Int { data?.count ?? -1 }
    }

    struct Refusing: DataPreprocessor {
        func preprocess(_ data: Data) throws -> Data { throw TestFailure() }
    }

    struct Reversing: DataPreprocessor {
        func preprocess(_ data: Data) throws -> Data { Data(data.reversed()) }
    }

    // MARK: Rules for all

    @Test func theDocumentedDefaults() throws {
        let serializer = Bare()
        #expect(serializer.emptyRequestMethods == [.head])
        #expect(serializer.emptyResponseCodes == [204, 205])
        #expect(serializer.dataPreprocessor is PassthroughPreprocessor)
        let all: [any ResponseSerializer] = [
            DataResponseSerializer(), StringResponseSerializer(), JSONResponseSerializer(),
            PropertyListResponseSerializer(), DecodableResponseSerializer<Int>(),
        ]
        for serializer in all {
            #expect(serializer.emptyRequestMethods == [.head])
            #expect(serializer.emptyResponseCodes == [204, 205])
            #expect(serializer.dataPreprocessor is PassthroughPreprocessor)
        }
        #expect(StringResponseSerializer().encoding == nil)
        #expect(JSONResponseSerializer().options == .allowFragments)
        #expect(PropertyListResponseSerializer().options == [])
        #expect(DecodableResponseSerializer<Int>().decoder is JSONDecoder)
    }

    @Test func whetherAnAnswerMayBeEmptyIsKnownFromMethodOrStatus() throws {
        let serializer = Bare()
        #expect(serializer.requestAllowsEmptyResponseData(nil) == nil)
        #expect(serializer.requestAllowsEmptyResponseData(try emptyRequest(.head)) == true)
        #expect(serializer.requestAllowsEmptyResponseData(try emptyRequest(.get)) == false)
        #expect(serializer.responseAllowsEmptyResponseData(nil) == nil)
        #expect(serializer.responseAllowsEmptyResponseData(try answerHead(204)) == true)
        #expect(serializer.responseAllowsEmptyResponseData(try answerHead(200)) == false)
        #expect(serializer.emptyResponseAllowed(forRequest: try emptyRequest(.head), response: try answerHead(200)))
        #expect(serializer.emptyResponseAllowed(forRequest: try emptyRequest(.get), response: try answerHead(205)))
        #expect(serializer.emptyResponseAllowed(forRequest: nil, response: try answerHead(204)))
        #expect(!serializer.emptyResponseAllowed(forRequest: try emptyRequest(.get), response: try answerHead(200)))
        #expect(!serializer.emptyResponseAllowed(forRequest: nil, response: nil))
    }

    @Test(arguments: [nil, Data()])
    func anEmptyAnswerFailsWhereItIsNotAllowed(data: Data?) {
        let reasons = [
            failureReason { try DataResponseSerializer().value(data) },
            failureReason { try StringResponseSerializer().value(data) },
            failureReason { try JSONResponseSerializer().value(data) },
            failureReason { try PropertyListResponseSerializer().value(data) },
            failureReason { try DecodableResponseSerializer<Empty>().value(data) },
        ]
        for reason in reasons {
            guard case .inputDataNilOrZeroLength? = reason else {
                Issue.record("\(String(describing: reason))")
                continue
            }
        }
    }

    @Test(arguments: [(HTTPMethod.head, 200), (.get, 204), (.get, 205)])
    func anEmptyAnswerThatIsAllowedHasAnEmptyValue(method: HTTPMethod, status: Int) throws {
        #expect(try DataResponseSerializer().value(nil, method: method, status: status) == Data())
        #expect(try StringResponseSerializer().value(nil, method: method, status: status) == "")
        #expect(try JSONResponseSerializer().value(nil, method: method, status: status) is NSNull)
        #expect(try PropertyListResponseSerializer().value(nil, method: method, status: status) is NSNull)
        #expect(throws: Never.self) {
            try DecodableResponseSerializer<Empty>().value(nil, method: method, status: status)
        }
    }

    @Test func methodsAndStatusesWithoutABodyCanBeChosen() throws {
        let data = DataResponseSerializer(emptyResponseCodes: [200], emptyRequestMethods: [.delete])
        #expect(try data.value(nil, status: 200) == Data())
        #expect(try data.value(nil, method: .delete, status: 202) == Data())
        #expect(failureReason { try data.value(nil, status: 204) } != nil)
        let text = StringResponseSerializer(emptyResponseCodes: [200], emptyRequestMethods: [.delete])
        #expect(try text.value(nil, status: 200) == "")
        #expect(failureReason { try text.value(nil, method: .head, status: 204) } != nil)
        let json = JSONResponseSerializer(emptyResponseCodes: [200], emptyRequestMethods: [.delete])
        #expect(try json.value(nil, method: .delete, status: 202) is NSNull)
        #expect(failureReason { try json.value(nil, status: 204) } != nil)
        let list = PropertyListResponseSerializer(emptyResponseCodes: [200], emptyRequestMethods: [.delete])
        #expect(try list.value(nil, method: .delete, status: 202) is NSNull)
        #expect(failureReason { try list.value(nil, status: 204) } != nil)
        let empty = DecodableResponseSerializer<Empty>(emptyResponseCodes: [200], emptyRequestMethods: [.delete])
        #expect(throws: Never.self) { try empty.value(nil, status: 200) }
        #expect(failureReason { try empty.value(nil, status: 204) } != nil)
    }

    @Test func theRequestsFailureComesBeforeEverythingElse() throws {
        let good = Data("1".utf8)
        let failure = AFError.explicitlyCancelled
        func isPassedOn(_ serialize: () throws -> some Any) -> Bool {
            do { _ = try serialize() } catch { return error.asAFError?.isExplicitlyCancelledError == true }
            return false
        }
        #expect(isPassedOn { try DataResponseSerializer().value(good, error: failure) })
        #expect(isPassedOn { try StringResponseSerializer().value(good, error: failure) })
        #expect(isPassedOn { try JSONResponseSerializer().value(good, error: failure) })
        #expect(isPassedOn { try PropertyListResponseSerializer().value(good, error: failure) })
        #expect(isPassedOn { try DecodableResponseSerializer<Int>().value(good, error: failure) })
        #expect(isPassedOn { try DataResponseSerializer().value(nil, status: 204, error: failure) })
        let missing = URL(fileURLWithPath: "/nowhere")
        #expect(
            isPassedOn {
                try DataResponseSerializer()
                    .serializeDownload(request: nil, response: nil, fileURL: missing, error: failure)
            })
        #expect(
            isPassedOn {
                try URLResponseSerializer()
                    .serializeDownload(request: nil, response: nil, fileURL: missing, error: failure)
            })
    }

    // MARK: Preprocessors

    @Test func googlesPrefixIsTakenOffWhereItStands() throws {
        let preprocessor = GoogleXSSIPreprocessor()
        #expect(try preprocessor.preprocess(Data(")]}',\n{}".utf8)) == Data("{}".utf8))
        #expect(try preprocessor.preprocess(Data("{}".utf8)) == Data("{}".utf8))
        #expect(try preprocessor.preprocess(Data("{})]}',\n".utf8)) == Data("{})]}',\n".utf8))
        #expect(try preprocessor.preprocess(Data(")]}'".utf8)) == Data(")]}'".utf8))
        #expect(try preprocessor.preprocess(Data()) == Data())
        // Indices start at 0, from which decoders and callers count.
        #expect(try preprocessor.preprocess(Data(")]}',\n{}".utf8)).startIndex == 0)
        #expect(try PassthroughPreprocessor().preprocess(Data(")]}',\n".utf8)) == Data(")]}',\n".utf8))
    }

    @Test func everySerializerPreparesTheBytes() throws {
        let reversing = Reversing()
        #expect(try DataResponseSerializer(dataPreprocessor: reversing).value("abc") == Data("cba".utf8))
        #expect(try StringResponseSerializer(dataPreprocessor: reversing).value("abc") == "cba")
        #expect(try JSONResponseSerializer(dataPreprocessor: reversing).value("]21[") as? [Int] == [12])
        #expect(try DecodableResponseSerializer<[Int]>(dataPreprocessor: reversing).value("]21[") == [12])
        let list = Data(try plist(["a": 1]).reversed())
        #expect(
            try PropertyListResponseSerializer(dataPreprocessor: reversing).value(list) as? [String: Int] == ["a": 1])
    }

    @Test func aPreprocessorsErrorIsPassedOn() throws {
        #expect(throws: TestFailure.self) { try JSONResponseSerializer(dataPreprocessor: Refusing()).value("{}") }
        #expect(throws: TestFailure.self) {
            try DecodableResponseSerializer<Int>(dataPreprocessor: Refusing()).value("1")
        }
        // An empty answer has no data to preprocess.
        #expect(try DataResponseSerializer(dataPreprocessor: Refusing()).value(nil, status: 204) == Data())
    }

    // MARK: JSON and property lists

    @Test func jsonCastsAsWhatJSONSerializationReturns() throws {
        let value = try JSONResponseSerializer()
            .value(#"{"i":3,"d":1.5,"t":true,"n":null,"s":"x","a":[1,{"b":"c"}],"o":{"k":[["deep"]]}}"#)
        let object = try #require(value as? [String: Any])
        #expect(object.count == 7)
        #expect(object["i"] as? Int == 3)
        #expect(object["d"] as? Double == 1.5)
        #expect(object["t"] as? Bool == true)
        #expect(object["n"] is NSNull)
        #expect(object["s"] as? String == "x")
        let array = try #require(object["a"] as? [Any])
        #expect(array[0] as? Int == 1)
        #expect((array[1] as? [String: Any])?["b"] as? String == "c")
        #expect((object["o"] as? [String: Any])?["k"] as? [[String]] == [["deep"]])
        #expect(try JSONResponseSerializer().value(#"[{"a":1},{"a":2}]"#) as? [[String: Int]] == [["a": 1], ["a": 2]])
    }

    @Test func loneJSONValuesAreTakenUnlessTheOptionsSayNo() throws {
        #expect(try JSONResponseSerializer().value("3") as? Int == 3)
        #expect(try JSONResponseSerializer().value(#""s""#) as? String == "s")
        #expect(try JSONResponseSerializer().value("null") is NSNull)
        let failure = failureReason { try JSONResponseSerializer(options: []).value("3") }
        guard case .jsonSerializationFailed? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test func invalidJSONHasAnExplainingError() {
        let failure = failureReason { try JSONResponseSerializer().value("{nope") }
        guard case .jsonSerializationFailed(let error)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect((error as? CocoaError)?.code == .propertyListReadCorrupt)
    }

    @Test func containersAndLeavesOfJSONAreMutableWhereAsked() throws {
        let all = JSONResponseSerializer(options: [.allowFragments, .mutableContainers, .mutableLeaves])
        let object = try #require(try all.value(#"{"a":[1],"s":"x"}"#) as? NSMutableDictionary)
        object["b"] = 2
        #expect(object.count == 3 && object["s"] as? String == "x")
        let text = try #require(try all.value(#""x""#) as? NSMutableString)
        text.append("y")
        #expect(text.isEqual(to: "xy"))
        #expect(try all.value(#"{"a":[1]}"#) as? [String: [Int]] == ["a": [1]])
        #expect(try all.value("3") as? Int == 3)
        let containers = JSONResponseSerializer(options: .mutableContainers)
        let array = try #require(try containers.value(#"["x"]"#) as? NSMutableArray)
        array.add("y")
        #expect(array.count == 2)
        #expect(!(try JSONResponseSerializer().value("[]") is NSMutableArray))
    }

    @Test func optionsForMutablePropertyListsHaveNoEffect() throws {
        let list = PropertyListResponseSerializer(options: .mutableContainersAndLeaves)
        #expect(try list.value(plist(["a": [1]])) as? [String: [Int]] == ["a": [1]])
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func propertyListsOfBothFormatsAreRead(format: PropertyListSerialization.PropertyListFormat) throws {
        let date = Date(timeIntervalSince1970: 1_600_000_000)
        let contents: [String: Any] = [
            "i": 3, "d": 1.5, "t": true, "s": "x", "date": date, "data": Data([0, 1]), "a": ["x", ["k": "v"]],
        ]
        let value = try PropertyListResponseSerializer().value(plist(contents, format))
        let list = try #require(value as? [String: Any])
        #expect(list["i"] as? Int == 3)
        #expect(list["d"] as? Double == 1.5)
        #expect(list["t"] as? Bool == true)
        #expect(list["s"] as? String == "x")
        #expect(list["date"] as? Date == date)
        #expect(list["data"] as? Data == Data([0, 1]))
        #expect(((list["a"] as? [Any])?[1] as? [String: Any])?["k"] as? String == "v")
    }

    @Test func anInvalidPropertyListFails() {
        let failure = failureReason { try PropertyListResponseSerializer().value("<plist><dict>") }
        guard case .customSerializationFailed? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test func aParsedValueOfAnUnknownTypeIsAnErrorAndNotGuessed() {
        struct Strange {}
        #expect(throws: SendableTree.UnexpectedType.self) { try SendableTree.of(["a": [Strange()]]) }
    }

    private func plist(
        _ value: Any, _ format: PropertyListSerialization.PropertyListFormat = .xml
    ) throws -> Data { try PropertyListSerialization.data(fromPropertyList: value, format: format, options: 0) }

    // MARK: Decodable

    @Test func theDecoderIsTheOneThatIsGiven() throws {
        #expect(try DecodableResponseSerializer<Greeting>().value(#"{"text":"hi"}"#) == Greeting(text: "hi"))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        struct Names: Decodable, Sendable { let firstName: String }
        #expect(try DecodableResponseSerializer<Names>(decoder: decoder).value(#"{"first_name":"A"}"#).firstName == "A")
        #expect(
            try DecodableResponseSerializer<Greeting>(decoder: PropertyListDecoder()).value(plist(["text": "hi"]))
                == Greeting(text: "hi"))
    }

    @Test func aDecodingErrorNamesItsReason() {
        let failure = failureReason { try DecodableResponseSerializer<Greeting>().value(#"{"other":1}"#) }
        guard case .decodingFailed(let error)? = failure, case DecodingError.keyNotFound(let key, _) = error else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(key.stringValue == "text")
    }

    @Test func anAllowedEmptyAnswerNeedsATypeWithAnEmptyValue() throws {
        struct Nothing: Decodable, EmptyResponse, Equatable {
            var isEmpty = false
            static func emptyValue() -> Nothing { Nothing(isEmpty: true) }
        }
        #expect(try DecodableResponseSerializer<Nothing>().value(nil, status: 204) == Nothing(isEmpty: true))
        let failure = failureReason { try DecodableResponseSerializer<Greeting>().value(nil, status: 204) }
        guard case .invalidEmptyResponse(type: "Greeting")? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    // MARK: Files

    @Test func theFileOfADownloadIsReadAndSerialized() throws {
        let folder = try TemporaryFolder("serializer")
        let file = URL(fileURLWithPath: try folder.write(#"{"text":"hi"}"#, to: "f"))
        func value<S: ResponseSerializer>(_ serializer: S) throws -> S.SerializedObject {
            try serializer.serializeDownload(
                request: emptyRequest(.get), response: answerHead(), fileURL: file, error: nil)
        }
        #expect(try value(DataResponseSerializer()) == Data(#"{"text":"hi"}"#.utf8))
        #expect(try value(StringResponseSerializer()) == #"{"text":"hi"}"#)
        #expect(try value(JSONResponseSerializer()) as? [String: String] == ["text": "hi"])
        #expect(try value(DecodableResponseSerializer<Greeting>()) == Greeting(text: "hi"))
        // A custom serializer needs no method for files.
        #expect(try value(Bare()) == 13)
    }

    @Test func aValueOfAFileDoesNotChangeWithTheFile() throws {
        let folder = try TemporaryFolder("serializer")
        let path = try folder.write(count: 100_000, seed: 1, to: "f")
        let expected = try folder.data("f").map { $0 }
        let value = try DataResponseSerializer()
            .serializeDownload(request: nil, response: nil, fileURL: URL(fileURLWithPath: path), error: nil)
        // The write is in place, since a file that is renamed over it would not change a mapping.
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.truncate(atOffset: 0)
        try handle.close()
        #expect(value.elementsEqual(expected))
    }

    @Test func withoutAFileThereIsAFailure() {
        let reasons = [
            failureReason {
                try StringResponseSerializer()
                    .serializeDownload(request: nil, response: nil, fileURL: nil, error: nil)
            },
            failureReason {
                try URLResponseSerializer().serializeDownload(request: nil, response: nil, fileURL: nil, error: nil)
            },
        ]
        for reason in reasons {
            guard case .inputFileNil? = reason else {
                Issue.record("\(String(describing: reason))")
                continue
            }
        }
    }

    @Test func aFileThatCannotBeReadIsNamed() {
        let missing = URL(fileURLWithPath: "/nowhere/file")
        let failure = failureReason {
            try DataResponseSerializer().serializeDownload(request: nil, response: nil, fileURL: missing, error: nil)
        }
        guard case .inputFileReadFailed(at: missing)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test func anEmptyFileFollowsTheRulesForEmptyAnswers() throws {
        let folder = try TemporaryFolder("serializer")
        let file = URL(fileURLWithPath: try folder.write("", to: "empty"))
        let value = try DataResponseSerializer()
            .serializeDownload(request: emptyRequest(.get), response: answerHead(204), fileURL: file, error: nil)
        #expect(value == Data())
        let failure = failureReason {
            try DataResponseSerializer()
                .serializeDownload(request: emptyRequest(.get), response: answerHead(200), fileURL: file, error: nil)
        }
        guard case .inputDataNilOrZeroLength? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test func theURLSerializerNeverReadsTheFile() throws {
        let missing = URL(fileURLWithPath: "/nowhere/file")
        let value = try URLResponseSerializer()
            .serializeDownload(request: nil, response: nil, fileURL: missing, error: nil)
        #expect(value == missing)
    }
}
