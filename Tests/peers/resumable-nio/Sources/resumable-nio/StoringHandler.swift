import Foundation
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// The server behind the protocol, for which an upload is one PUT or POST with a slow body.
final class StoringHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let store: ObjectStore
    private var file: IncomingFile?

    init(_ store: ObjectStore) { self.store = store }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let request):
            guard request.method == .put || request.method == .post else {
                return answer(request.method == .options ? .notImplemented : .notFound, context)
            }
            do { file = try store.newFile() } catch { answer(.internalServerError, context) }
        case .body(let piece):
            do { try file?.append(Data(piece.readableBytesView)) } catch { answer(.internalServerError, context) }
        case .end:
            guard let file else { return }
            self.file = nil
            do {
                try file.keep()
                answer(.created, context)
            } catch {
                answer(.internalServerError, context)
            }
        }
    }

    /// The upload was cancelled or forgotten. A broken connection does not end an upload.
    func channelInactive(context: ChannelHandlerContext) {
        file?.discard()
        file = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        file?.discard()
        file = nil
    }

    private func answer(_ status: HTTPResponse.Status, _ context: ChannelHandlerContext) {
        file?.discard()
        file = nil
        let head = HTTPResponse(status: status, headerFields: [.contentLength: "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
