import Synchronization
import TransferTestServer

/// The part of S3 that an upload uses: the server accepts everything, and keeps each request with its body.
final class ObjectServer: Sendable {
    private let received = Mutex<[Request]>([])

    /// - Parameter object: The path of its URL, with or without a host.
    init(_ server: TestServer, object: String) {
        server.handle(nil, object) { [self] request in
            received.withLock { $0.append(request) }
            return answer(request)
        }
    }

    private func answer(_ request: Request) -> Response {
        switch request.method {
        case "PUT": Response(headers: ["ETag": "\"tag\""])
        case "POST" where request.query == "uploads=":
            result("InitiateMultipartUploadResult", "<UploadId>id</UploadId>")
        case "POST": result("CompleteMultipartUploadResult", "<ETag>tag</ETag>")
        default: Response(status: 404)
        }
    }

    private func result(_ name: String, _ members: String) -> Response {
        Response(body: .text("<\(name)>\(members)</\(name)>"))
    }

    /// The requests in the order of their complete arrival.
    var requests: [Request] { received.withLock { $0 } }

    /// The requests that carried the object, or a part of it.
    var bodies: [Request] { requests.filter { $0.method == "PUT" } }

    /// The request that sets the object's metadata: the only one, or the first of several.
    var creation: Request? { requests.first }

    /// The current content of the object: its one body, or the parts that the last request names, in its order.
    var object: [UInt8] {
        guard let last = requests.last, last.method == "POST" else { return bodies.last?.body ?? [] }
        let document = String(decoding: last.body, as: UTF8.self)
        return document.matches(of: /<PartNumber>([0-9]+)<\/PartNumber>/).flatMap { part in
            bodies.first { $0.query == "partNumber=\(part.1)&uploadId=id" }?.body ?? []
        }
    }
}
