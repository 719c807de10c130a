import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOResumableUpload
import Synchronization

/// `resumable-nio FOLDER`: resumable uploads by NIOResumableUpload (interop version 6 of the IETF's draft) into a
/// folder. It prints its port on 127.0.0.1, and ends with its standard input. A line `forget` there makes it forget the
/// incomplete uploads.
@main
enum Server {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            FileHandle.standardError.write(Data("usage: resumable-nio FOLDER\n".utf8))
            exit(64)
        }
        let store = try ObjectStore(URL(fileURLWithPath: CommandLine.arguments[1], isDirectory: true))
        let uploads = KnownUploads()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
                    try pipeline.addHandler(
                        HTTPResumableUploadHandler(context: uploads.context) { upload in
                            // The channel of the upload, which accepts a handler at its start.
                            try? upload.pipeline.syncOperations.addHandler(StoringHandler(store))
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        FileHandle.standardError.write(Data("listening on \(server.localAddress?.port ?? 0)\n".utf8))
        while let line = readLine() {
            if line == "forget" { uploads.forget() }
        }
    }
}

/// The uploads that can be resumed. Their URLs are relative, so that a proxy in front of this server stays in use.
private final class KnownUploads: Sendable {
    private let known = Mutex(HTTPResumableUploadContext(origin: ""))

    var context: HTTPResumableUploadContext { known.withLock { $0 } }

    func forget() { known.withLock { $0 = HTTPResumableUploadContext(origin: "") } }
}
