import Foundation
import Testing
import TransferTestServer

@testable import TransferNetworking

@Suite("Stream serializers")
struct StreamSerializerTests {
    struct Refusing: DataPreprocessor {
        func preprocess(_ data: Data) throws -> Data { throw TestFailure() }
    }

    /// Lines of a piece.
    struct Lines: DataStreamSerializer {
        func serialize(_ data: Data) throws -> [String] {
            try StringStreamSerializer().serialize(data).split(separator: "\n").map(String.init)
        }
    }

    @Test func aPieceIsPassedOnAsItIs() throws {
        #expect(try PassthroughStreamSerializer().serialize(Data([0xFF, 0])) == Data([0xFF, 0]))
    }

    @Test func aPieceIsReadAsUTF8() throws {
        #expect(try StringStreamSerializer().serialize(Data("é".utf8)) == "é")
        #expect(try StringStreamSerializer().serialize(Data()) == "")
    }

    @Test func aCharacterThatIsSplitBetweenTwoPiecesIsReplacedInBoth() throws {
        let serializer = StringStreamSerializer()
        #expect(try serializer.serialize(Data([0x61, 0xC3])) == "a\u{FFFD}")
        #expect(try serializer.serialize(Data([0xA9, 0x62])) == "\u{FFFD}b")
    }

    @Test func aPieceIsDecoded() throws {
        let greeting = Greeting(text: "hi")
        #expect(
            try DecodableStreamSerializer<Greeting>().serialize(Data(#"{"text":"hi"}"#.utf8)) == greeting)
        let prefixed = DecodableStreamSerializer<Greeting>(dataPreprocessor: GoogleXSSIPreprocessor())
        #expect(try prefixed.serialize(Data(")]}',\n{\"text\":\"hi\"}".utf8)) == greeting)
        let list = DecodableStreamSerializer<Greeting>(decoder: PropertyListDecoder())
        #expect(try list.serialize(PropertyListEncoder().encode(greeting)) == greeting)
    }

    @Test func aPieceThatCannotBeDecodedSaysWhy() {
        let error = #expect(throws: AFError.self) {
            try DecodableStreamSerializer<Greeting>().serialize(Data("{".utf8))
        }
        guard case .responseSerializationFailed(.decodingFailed(let cause))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is DecodingError)
    }

    @Test func aPreprocessorsErrorIsPassedOn() {
        #expect(throws: TestFailure.self) {
            try DecodableStreamSerializer<Greeting>(dataPreprocessor: Refusing()).serialize(Data("{}".utf8))
        }
    }

    @Test func serializersAreNamedByTheirShortNames() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text(#"{"text":"é"}"#))
            let session = makeSession()
            let data = Calls<Data?>()
            session.streamRequest(server.url("/x")).responseStream(using: .passthrough, on: testQueue) { stream in
                data.add(try stream.event.value?.get())
            }
            let text = Calls<String?>()
            session.streamRequest(server.url("/x")).responseStream(using: .string, on: testQueue) { stream in
                text.add(try stream.event.value?.get())
            }
            let greeting = Calls<Greeting?>()
            session.streamRequest(server.url("/x"))
                .responseStream(using: .decodable(of: Greeting.self), on: testQueue) { stream in
                    greeting.add(try stream.event.value?.get())
                }
            #expect(await data.first() == Data(#"{"text":"é"}"#.utf8))
            #expect(await text.first() == #"{"text":"é"}"#)
            #expect(await greeting.first() == Greeting(text: "é"))
        }
    }

    @Test func aSerializerOfOnesOwnSeesThePieces() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("one\ntwo\n"))
            let lines = Calls<[String]?>()
            makeSession().streamRequest(server.url("/x")).responseStream(using: Lines(), on: testQueue) { stream in
                lines.add(try stream.event.value?.get())
            }
            #expect(await lines.first() == ["one", "two"])
        }
    }
}

extension DataStreamRequest.Event {
    /// The result of a piece; `nil` at the end.
    fileprivate var value: Result<Success, Failure>? {
        guard case .stream(let result) = self else { return nil }
        return result
    }
}
