import Foundation
import FoundationNetworking
import FoundationXML
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

// The serializers and transforms that the documents show, as programs would write them here.

/// Document 003, "Creating a Custom Response Serializer", with the additions that its text proposes.
private struct CommaDelimitedSerializer: ResponseSerializer {
    var emptyRequestMethods = StringResponseSerializer.defaultEmptyRequestMethods
    var emptyResponseCodes = StringResponseSerializer.defaultEmptyResponseCodes

    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> [String] {
        // Call the existing StringResponseSerializer to get many behaviors automatically.
        let string = try StringResponseSerializer(
            emptyResponseCodes: emptyResponseCodes, emptyRequestMethods: emptyRequestMethods
        ).serialize(request: request, response: response, data: data, error: error)
        return string.split(separator: ",").map(String.init)
    }
}

extension ResponseSerializer where Self == CommaDelimitedSerializer {
    fileprivate static var commaDelimited: CommaDelimitedSerializer { CommaDelimitedSerializer() }
}

extension DataRequest {
    @discardableResult
    fileprivate func responseCommaDelimited(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDataResponse<[String]>) -> Void
    ) -> Self { response(queue: queue, responseSerializer: .commaDelimited, completionHandler: completionHandler) }
}

extension DownloadRequest {
    @discardableResult
    fileprivate func responseCommaDelimited(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDownloadResponse<[String]>) -> Void
    ) -> Self { response(queue: queue, responseSerializer: .commaDelimited, completionHandler: completionHandler) }
}

/// Document 000, "Handling Errors".
private enum BackendError: Error {
    case network(error: any Error)
    case dataSerialization(error: any Error)
    case xmlSerialization(error: any Error)
    case objectSerialization(reason: String)
}

/// The values that a program reads from an XML document.
private struct Book: Equatable, Sendable {
    var title: String
    var pages: Int

    init(xml: XMLElements) throws {
        guard xml.root == "book", let title = xml.texts["title"],
            let pages = xml.attributes["pages"].flatMap({ Int($0) })
        else { throw BackendError.objectSerialization(reason: "no book") }
        self.title = title
        self.pages = pages
    }
}

/// The root of an XML document, and the texts of its elements.
private struct XMLElements {
    private(set) var root = ""
    private(set) var attributes: [String: String] = [:]
    private(set) var texts: [String: String] = [:]

    init(data: Data) throws {
        let parser = XMLParser(data: data)
        let delegate = Delegate()
        parser.delegate = delegate
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.propertyListReadCorrupt) }
        self = delegate.elements
    }

    private init() {}

    private final class Delegate: NSObject, XMLParserDelegate {
        var elements = XMLElements()
        private var open: [String] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            if open.isEmpty { (elements.root, elements.attributes) = (name, attributes) }
            open.append(name)
        }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) { open.removeLast() }

        func parser(_ parser: XMLParser, foundCharacters text: String) {
            if let name = open.last { elements.texts[name, default: ""] += text }
        }
    }
}

/// Document 000, "Creating a Custom Response Serializer".
private struct XMLResponseSerializer<Value: Sendable>: ResponseSerializer {
    let make: @Sendable (XMLElements) throws -> Value

    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Value {
        // Pass through any underlying error to the .network case.
        if let error { throw BackendError.network(error: error) }
        let valid: Data
        do {
            valid = try DataResponseSerializer().serialize(
                request: request, response: response, data: data, error: nil)
        } catch {
            throw BackendError.dataSerialization(error: error)
        }
        let xml: XMLElements
        do { xml = try XMLElements(data: valid) } catch { throw BackendError.xmlSerialization(error: error) }
        return try make(xml)
    }
}

extension DataRequest {
    @discardableResult
    fileprivate func responseXMLDocument<Value: Sendable>(
        queue: DispatchQueue = .main, _ make: @escaping @Sendable (XMLElements) throws -> Value,
        completionHandler: @escaping @Sendable (AFDataResponse<Value>) -> Void
    ) -> Self {
        response(
            queue: queue, responseSerializer: XMLResponseSerializer(make: make), completionHandler: completionHandler)
    }
}

/// Document 001, "Generic Response Object Serialization".
private protocol ResponseObjectSerializable: Sendable {
    init?(response: HTTPURLResponse, representation: Any)
}

private struct User: ResponseObjectSerializable, Equatable {
    let username: String
    let name: String

    init?(response: HTTPURLResponse, representation: Any) {
        guard let username = response.url?.lastPathComponent, let representation = representation as? [String: Any],
            let name = representation["name"] as? String
        else { return nil }
        self.username = username
        self.name = name
    }
}

private struct ResponseObjectSerializer<Value: ResponseObjectSerializable>: ResponseSerializer {
    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Value {
        let json = try JSONResponseSerializer().serialize(
            request: request, response: response, data: data, error: error)
        guard let response, let value = Value(response: response, representation: json) else {
            throw BackendError.objectSerialization(reason: "JSON could not be serialized: \(json)")
        }
        return value
    }
}

extension DataRequest {
    @discardableResult
    fileprivate func responseObject<Value: ResponseObjectSerializable>(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDataResponse<Value>) -> Void
    ) -> Self {
        response(
            queue: queue, responseSerializer: ResponseObjectSerializer<Value>(), completionHandler: completionHandler)
    }
}

@Suite("Serializers of the documents")
struct SerializerExamplesTests {
    private let session: Session
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("examples")
        session = makeSession(folder)
    }

    @Test func theCommaDelimitedSerializerServesBothKindsOfRequest() async throws {
        try await withTestServer { server async throws in
            server.serve("/list", ServedFile(.text("a,b,é"), contentType: "text/csv; charset=utf-8"))
            let data = Calls<[String]?>()
            session.request(server.url("/list")).responseCommaDelimited(queue: testQueue) { data.add($0.value) }
            #expect(await data.first() == ["a", "b", "é"])
            let file = Calls<[String]?>()
            session.download(server.url("/list")).responseCommaDelimited(queue: testQueue) { file.add($0.value) }
            #expect(await file.first() == ["a", "b", "é"])
        }
    }

    @Test func theCommaDelimitedSerializerInheritsTheRulesOfText() async throws {
        try await withTestServer { server async throws in
            server.handle(nil, "/empty") { _ in Response(status: 200) }
            let request = session.request(server.url("/empty"))
            let refused = await request.serializingResponse(using: CommaDelimitedSerializer()).response
            #expect(refused.error?.isResponseSerializationError == true)
            let taken = await request.serializingResponse(using: CommaDelimitedSerializer(emptyResponseCodes: [200]))
                .response
            #expect(taken.value == [])
        }
    }

    @Test func theXMLSerializerParsesAndDistinguishesItsFailures() async throws {
        try await withTestServer { server async throws in
            server.serve("/book", .text("<?xml version=\"1.0\"?><book pages=\"3\"><title>On Files</title></book>"))
            server.serve("/broken", .text("<book></magazine>"))
            server.serve("/other", .text("<magazine/>"))
            server.handle(nil, "/empty") { _ in Response(status: 200) }
            let responses = Calls<AFDataResponse<Book>>()
            func book(_ path: String) async -> AFDataResponse<Book>? {
                session.request(server.url(path))
                    .responseXMLDocument(queue: testQueue, { try Book(xml: $0) }) { responses.add($0) }
                return await responses.first()
            }
            let good = await book("/book")
            #expect(good?.value?.title == "On Files")
            #expect(good?.value?.pages == 3)
            guard case .xmlSerialization? = await book("/broken")?.error?.underlyingError as? BackendError else {
                Issue.record("broken XML was taken")
                return
            }
            guard case .objectSerialization? = await book("/other")?.error?.underlyingError as? BackendError else {
                Issue.record("another document was taken")
                return
            }
            guard case .dataSerialization? = await book("/empty")?.error?.underlyingError as? BackendError else {
                Issue.record("an empty document was taken")
                return
            }
        }
        let gone = try await withTestServer { $0.url("/x") }
        let response = await session.request(gone).serializingResponse(
            using: XMLResponseSerializer { try Book(xml: $0) }
        )
        .response
        guard case .network(let cause)? = response.error?.underlyingError as? BackendError else {
            Issue.record("\(String(describing: response.error))")
            return
        }
        #expect(URLError.code(of: cause.asAFError) == .cannotConnectToHost)
    }

    @Test func objectsAreMadeOfJSONAndTheAnswersHead() async throws {
        try await withTestServer { server async throws in
            server.serve("/users/mattt", .text(#"{"name":"Mattt"}"#))
            let users = Calls<User?>()
            session.request(server.url("/users/mattt"))
                .responseObject(queue: testQueue) { (response: AFDataResponse<User>) in users.add(response.value) }
            let user = await users.first().flatMap { $0 }
            #expect(user?.username == "mattt")
            #expect(user?.name == "Mattt")
        }
    }

    @Test func responsesAreMapped() async throws {
        struct Named: Equatable {
            let name: String
            init(json: Any) throws {
                guard let name = (json as? [String: Any])?["name"] as? String else {
                    throw BackendError.objectSerialization(reason: "no name")
                }
                self.name = name
            }
        }
        try await withTestServer { server async throws in
            server.serve("/users/mattt", .text(#"{"name":"Mattt"}"#))
            server.serve("/users/nobody", .text("{}"))
            let names = Calls<String>()
            for path in ["/users/mattt", "/users/nobody"] {
                session.request(server.url(path)).responseJSON(queue: testQueue) { response in
                    let userResponse = response.tryMap { json in try Named(json: json) }
                    names.add(userResponse.value?.name ?? "\(userResponse.error is BackendError)")
                }
            }
            let both = [await names.first(), await names.first()].compactMap(\.self)
            #expect(Set(both) == ["Mattt", "true"])
            let lengths = Calls<Int?>()
            session.request(server.url("/users/mattt")).responseDecodable(of: [String: String].self, queue: testQueue) {
                lengths.add($0.map { $0["name"]?.count }.value.flatMap { $0 })
            }
            #expect(await lengths.first() == 5)
        }
    }

    /// Document 002, "Response Handling" and "Manual Validation".
    @Test func theHandlersOfTheUsageGuideRun() async throws {
        try await withTestServer { server async throws in
            server.serve("/get", ServedFile(.text(#"{"url":"http://x/get"}"#), contentType: "application/json"))
            let lines = Calls<String>()
            session.request(server.url("/get"))
                .validate(statusCode: 200..<300)
                .validate(contentType: ["application/json"])
                .responseData(queue: testQueue) { response in
                    switch response.result {
                    case .success: lines.add("Validation Successful")
                    case .failure(let error): lines.add("\(error)")
                    }
                }
                .responseJSON(queue: testQueue) { response in
                    if let json = response.value { lines.add("JSON: \(json)") }
                }
                .responseString(queue: testQueue) { response in
                    lines.add("Response String: \(response.value ?? "")")
                    lines.add("\(response)")
                }
            #expect(await lines.first { $0.hasPrefix("success") } != nil)
            #expect(
                lines.all == [
                    "Validation Successful", #"JSON: ["url": "http://x/get"]"#,
                    #"Response String: {"url":"http://x/get"}"#, #"success({"url":"http://x/get"})"#,
                ])
        }
    }
}
