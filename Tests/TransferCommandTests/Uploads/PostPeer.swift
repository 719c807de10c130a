import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// A server that accepts POST requests: files, or files in forms.
final class PostPeer: UploadPeer {
    private let server: TestServer
    private let sink: UploadSink
    private let name: String

    /// - Parameter name: The name of the protocol.
    init(_ name: String) throws {
        server = try TestServer()
        sink = server.acceptUploads("/in")
        self.name = name
    }

    deinit { server.stop() }

    var port: UInt16 { server.port }
    func target(_ port: UInt16) -> (url: String, members: String) {
        ("http://127.0.0.1:\(port)/in", #""protocol": "\#(name)""#)
    }

    /// Returns the complete objects; an interrupted one does not count.
    func objects() async throws -> [String] {
        var sums: [String] = []
        for upload in sink.uploads where upload.isComplete {
            guard name == "multipart" else {
                sums.append(try await digest("sha256", upload.bytes))
                continue
            }
            for part in try upload.form().parts where part.fileName != nil {
                sums.append(try await digest("sha256", Array(part.body)))
            }
        }
        return sums
    }
    func unfinished() async throws -> Int { 0 }
    func expire() async throws {}
}

extension ReceivedUpload {
    /// Returns the form in the body, parsed according to its Content-Type.
    func form() throws -> MultipartForm {
        try #require(MultipartForm(bytes, contentType: headers["Content-Type"] ?? ""))
    }
}
