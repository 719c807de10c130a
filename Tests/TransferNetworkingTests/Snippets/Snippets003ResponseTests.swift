import Foundation
import FoundationNetworking
import Testing
import TransferTestServer

@testable import TransferNetworking

/// Document 003 again: metrics, monitors of parsed responses, responses that are mapped, and decoded streams. The numbers are its lines.
@Suite("Snippets of document 003 about responses", .timeLimit(.minutes(1)))
struct Snippets003ResponseTests {
    struct Property: Equatable, Sendable {
        struct Invalid: Error {}

        let text: String

        func validated() throws -> Property {
            guard text.hasSuffix("/get") else { throw Invalid() }
            return self
        }
    }

    struct DecodableType: Decodable {
        let url: String
        var someProperty: Property { Property(text: url) }
    }

    // 308
    @Test func aResponseHasTheMetricsOfItsTransfer() async throws {
        try await withHTTPBin { server async throws in
            let metrics = await handed { done in
                AF.request(server.url("/get"))
                    .responseDecodable(of: DecodableType.self) { response in
                        done(response.metrics)
                    }
            }
            try expectTimes(in: metrics)
        }
    }

    // MARK: Monitors

    // 670, 683
    @Test func aLoggerReceivesTheEventsOfRequests() async throws {
        final class Logger: EventMonitor {
            let queue = DispatchQueue(label: "logger")
            let transcript = Transcript()
            let finished = Calls<String>()

            // Event called when any type of Request is resumed.
            func requestDidResume(_ request: Request) {
                transcript.print("Resuming: \(request)")
            }

            // Event called whenever a DataRequest has parsed a response.
            func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
                transcript.debugPrint("Finished: \(response)")
                finished.add("\(response)")
            }
        }

        try await withHTTPBin { server async throws in
            let logger = Logger()
            let session = Session(eventMonitors: [logger])
            _ = try await session.request(server.url("/get")).echo
            _ = await logger.finished.first()
            let lines = logger.transcript.all
            #expect(lines.count == 2)
            #expect(lines.first?.hasPrefix("Resuming: ") == true)
            #expect(lines.last?.hasPrefix("\"Finished: success(") == true)
        }
    }

    // MARK: Mapping

    // 864
    @Test func aPropertyIsMappedOutOfAResponse() async throws {
        try await withHTTPBin { server async throws in
            let property = await handed { done in
                AF.request(server.url("/get")).responseDecodable(of: DecodableType.self) { response in
                    let propertyResponse = response.map { $0.someProperty }
                    #expect(propertyResponse.response === response.response)

                    done(propertyResponse)
                }
            }
            #expect(property.value == Property(text: server.url("/get")))
        }
    }

    // 870
    @Test func aMappingThatThrowsIsAFailure() async throws {
        try await withHTTPBin { server async throws in
            for (path, isValid) in [("/get", true), ("/cache", false)] {
                let error = await handed { done in
                    AF.request(server.url(path)).responseDecodable(of: DecodableType.self) { response in
                        let propertyResponse = response.tryMap { try $0.someProperty.validated() }

                        done(propertyResponse.error)
                    }
                }
                #expect((error == nil) == isValid)
                #expect(isValid || error is Property.Invalid)
            }
        }
    }

    // 862
    @Test func errorsAreMappedToo() async throws {
        struct Outer: Error {
            let inner: any Error
        }

        try await withHTTPBin { server async throws in
            let errors: (Int?, TestFailure?) = await handed { done in
                AF.request(server.url("/status/404")).validate().responseData { response in
                    let outer = response.mapError { Outer(inner: $0) }.error
                    let thrown = response.tryMapError { _ -> any Error in throw TestFailure() }.error
                    done(((outer?.inner as? AFError)?.responseCode, thrown as? TestFailure))
                }
            }
            #expect(errors.0 == 404)
            #expect(errors.1 == TestFailure())
        }
    }

    // MARK: Streams

    // 912; `responseDecodable` there is `responseStreamDecodable`.
    @Test func aStreamIsDecodedPieceByPiece() async throws {
        try await withHTTPBin { server async throws in
            let values = Calls<String>()
            let error = await handed { done in
                AF.streamRequest(server.url("/stream/1")).responseStreamDecodable(of: DecodableType.self) { stream in
                    switch stream.event {
                    case .stream(let result): values.add(try result.get().url)
                    case .complete(let completion): done(completion.error)
                    }
                }
            }
            #expect(error == nil)
            #expect(values.all == [server.url("/stream/1")])
        }
    }

    // 917
    @Test func theSerializerOfDecodableStreamsCanBeUsedDirectly() async throws {
        try await withHTTPBin { server async throws in
            let values = Calls<String>()
            let error = await handed { done in
                AF.streamRequest(server.url("/stream/1")).responseStream(
                    using: DecodableStreamSerializer<DecodableType>(decoder: JSONDecoder())
                ) { stream in
                    switch stream.event {
                    case .stream(let result): values.add(try result.get().url)
                    case .complete(let completion): done(completion.error)
                    }
                }
            }
            #expect(error == nil)
            #expect(values.all == [server.url("/stream/1")])
        }
    }
}
