import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// The creation of every form of a response, and the handling of its failures.
@Suite("Parameters of response handlers")
struct ResponseParameterTests {
    private let folder: TemporaryFolder
    private let session: Session

    init() throws {
        folder = try TemporaryFolder("handlers")
        session = makeSession(folder)
    }

    // MARK: Parameters of the forms

    @Test func statusesAndMethodsWithoutABodyAreHonouredByEveryForm() async throws {
        try await ResponseForms.withServer { server in
            let data = session.request(server.url("/empty"), method: .delete)
            let codes: Set<Int> = [200]
            #expect(
                await handed { data.responseData(queue: testQueue, emptyResponseCodes: codes, completionHandler: $0) }
                    .value == Data())
            #expect(
                await handed { data.responseString(queue: testQueue, emptyResponseCodes: codes, completionHandler: $0) }
                    .value == "")
            #expect(
                await handed { data.responseJSON(queue: testQueue, emptyResponseCodes: codes, completionHandler: $0) }
                    .value is NSNull)
            #expect(
                await handed {
                    data.responsePropertyList(queue: testQueue, emptyResponseCodes: codes, completionHandler: $0)
                }.value is NSNull)
            #expect(
                await handed {
                    data.responseDecodable(
                        of: Empty.self, queue: testQueue, emptyResponseCodes: codes, completionHandler: $0)
                }.error == nil)
            let methods: Set<HTTPMethod> = [.delete]
            #expect(
                await handed {
                    data.responseData(queue: testQueue, emptyRequestMethods: methods, completionHandler: $0)
                }.value == Data())
            #expect(
                await handed {
                    data.responseString(queue: testQueue, emptyRequestMethods: methods, completionHandler: $0)
                }.value == "")
            #expect(
                await handed {
                    data.responseJSON(queue: testQueue, emptyRequestMethods: methods, completionHandler: $0)
                }.value is NSNull)
            #expect(
                await handed {
                    data.responseDecodable(
                        of: Empty.self, queue: testQueue, emptyRequestMethods: methods, completionHandler: $0)
                }.error == nil)
            #expect(await handed { data.responseData(queue: testQueue, completionHandler: $0) }.value == nil)
            let file = session.download(server.url("/empty"), method: .delete)
            #expect(
                await handed { file.responseData(queue: testQueue, emptyResponseCodes: codes, completionHandler: $0) }
                    .value == Data())
            #expect(
                await handed {
                    file.responseString(queue: testQueue, emptyRequestMethods: methods, completionHandler: $0)
                }.value == "")
            #expect(
                await handed { file.responseJSON(queue: testQueue, emptyResponseCodes: codes, completionHandler: $0) }
                    .value is NSNull)
            #expect(await handed { file.responseData(queue: testQueue, completionHandler: $0) }.value == nil)
        }
    }

    @Test func theBytesArePreparedForEveryForm() async throws {
        try await ResponseForms.withServer { server in
            let data = session.request(server.url("/prefixed"))
            let file = session.download(server.url("/prefixed"))
            let bytes = Data(ResponseForms.json.utf8)
            #expect(
                await handed {
                    data.responseData(queue: testQueue, dataPreprocessor: .googleXSSI, completionHandler: $0)
                }.value == bytes)
            #expect(
                await handed {
                    data.responseString(queue: testQueue, dataPreprocessor: .googleXSSI, completionHandler: $0)
                }.value == ResponseForms.json)
            #expect(
                await handed {
                    data.responseJSON(queue: testQueue, dataPreprocessor: .googleXSSI, completionHandler: $0)
                }.error == nil)
            #expect(
                await handed {
                    data.responseDecodable(
                        of: Greeting.self, queue: testQueue, dataPreprocessor: .googleXSSI, completionHandler: $0)
                }.error == nil)
            #expect(
                await handed {
                    file.responseData(queue: testQueue, dataPreprocessor: .googleXSSI, completionHandler: $0)
                }.value == bytes)
            #expect(
                await handed {
                    file.responseDecodable(
                        of: Greeting.self, queue: testQueue, dataPreprocessor: .googleXSSI, completionHandler: $0)
                }.error == nil)
            #expect(
                await handed {
                    data.responseJSON(queue: testQueue, dataPreprocessor: .passthrough, completionHandler: $0)
                }
                .error?.isResponseSerializationError == true)
        }
    }

    @Test func theEncodingOfATextCanBeChosen() async throws {
        try await ResponseForms.withServer { server in
            let data = session.request(server.url("/json"))
            let file = session.download(server.url("/json"))
            let wrong = #"{"text":"hÃ©"}"#
            #expect(
                await handed { data.responseString(queue: testQueue, encoding: .isoLatin1, completionHandler: $0) }
                    .value == wrong)
            #expect(
                await handed { file.responseString(queue: testQueue, encoding: .isoLatin1, completionHandler: $0) }
                    .value == wrong)
        }
    }

    @Test func optionsAndDecodersAreHonoured() async throws {
        try await ResponseForms.withServer { server in
            server.serve("/three", .text("3"))
            let three = session.request(server.url("/three"))
            #expect(await handed { three.responseJSON(queue: testQueue, completionHandler: $0) }.value as? Int == 3)
            #expect(
                await handed { three.responseJSON(queue: testQueue, options: [], completionHandler: $0) }.value == nil)
            let list = session.request(server.url("/list"))
            let greeting = await handed {
                list.responseDecodable(
                    of: Greeting.self, queue: testQueue, decoder: PropertyListDecoder(), completionHandler: $0)
            }
            #expect(greeting.value == Greeting(text: "hi"))
        }
    }

    // MARK: Failures of serializers

    /// A serializer that calls its closure.
    private struct Closure: DataResponseSerializerProtocol, DownloadResponseSerializerProtocol {
        let body: @Sendable ((any Error)?) throws -> String

        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> String { try body(error) }

        func serializeDownload(
            request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
        ) throws -> String { try body(error) }
    }

    @Test func anErrorOfOnesOwnIsACustomFailureAndAnAFErrorStaysWhatItIs() async throws {
        try await ResponseForms.withServer { server in
            let own = Closure { _ in throw TestFailure() }
            let data = session.request(server.url("/json"))
            let file = session.download(server.url("/json"))
            let errors = [
                await data.serializingResponse(using: own).response.error,
                await file.serializingDownload(using: own).response.error,
            ]
            for error in errors {
                guard case .responseSerializationFailed(.customSerializationFailed(let cause))? = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                #expect(cause is TestFailure)
            }
            let plain = Closure { _ in throw AFError.explicitlyCancelled }
            #expect(await data.serializingResponse(using: plain).response.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test func aSerializerMayAnswerAFailure() async throws {
        let gone = try await withTestServer { $0.url("/x") }
        let rescuing = Closure { error in error == nil ? "well" : "rescued" }
        let data = await session.request(gone).serializingResponse(using: rescuing).response
        #expect(data.value == "rescued")
        let file = await session.download(gone).serializingDownload(using: rescuing).response
        #expect(file.value == "rescued")
    }

    @Test func aFailureToSerializeIsOfferedToTheRetriers() async throws {
        try await ResponseForms.withServer { server in
            server.serve("/x", .text(ResponseForms.json))
            server.script("/x", [.status(200, body: .text("{broken"))])
            server.serve("/y", .text(ResponseForms.json))
            server.script("/y", [.status(200, body: .text("{broken"))])
            let asked = Calls<Bool>()
            let retrier = ClosureRetrier { _, error in
                asked.add(error.asAFError?.isResponseSerializationError == true)
                return .retry
            }
            let data = await session.request(server.url("/x"), interceptor: retrier)
                .serializingDecodable(Greeting.self).response
            #expect(data.value == Greeting(text: "hé"))
            let file = await session.download(server.url("/y"), interceptor: retrier)
                .serializingDecodable(Greeting.self).response
            #expect(file.value == Greeting(text: "hé"))
            #expect(asked.all == [true, true])
        }
    }

    @Test func theErrorOfARetrierTakesThePlaceOfTheFailure() async throws {
        try await ResponseForms.withServer { server in
            server.serve("/x", .text("{broken"))
            let retrier = ClosureRetrier { _, _ in .doNotRetryWithError(TestFailure()) }
            let data = await session.request(server.url("/x"), interceptor: retrier)
                .serializingDecodable(Greeting.self).response
            let file = await session.download(server.url("/x"), interceptor: retrier)
                .serializingDecodable(Greeting.self).response
            for error in [data.error, file.error] {
                guard case .requestRetryFailed(let retryError, let original)? = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                #expect(retryError is TestFailure)
                #expect(original.asAFError?.isResponseSerializationError == true)
            }
            #expect(data.data == Data("{broken".utf8))
            #expect(file.fileURL != nil)
        }
    }
}
