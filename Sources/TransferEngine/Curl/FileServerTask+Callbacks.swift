import CTransferCurl
import TransferCore
import TransferEventLoop

// The answers and bytes of a file server, as libcurl's callbacks deliver them.
extension FileServerTask {
    enum Body { case taken, ignored, stop }

    /// Prepares for bytes of a body: the first ones are the moment of the answer's head.
    func bodyComes(to exchange: ActiveExchange) -> Body {
        // libcurl makes header lines of the facts about an FTP server's file.
        guard fetches else { return .ignored }
        guard exchange.answer.phase == .head, let handle = exchange.handle else { return .taken }
        switch dialogue.bodyBegins(file(handle)) {
        case .deliver(let head): return exchange.receivedHead(head) ? .taken : .stop
        case .stop(let error):
            exchange.stopReason = .failed(error)
            return .stop
        }
    }

    /// Takes lines of an FTP server's replies.
    func received(_ lines: UnsafeRawBufferPointer, of exchange: ActiveExchange) {
        exchange.noteActivity()
        for line in lines.split(separator: UInt8(ascii: "\n")) { replies.received(line) }
        if replies.tellsDataAddress { sockets.dataBegins(exchange.id) }
    }

    /// Notes possible progress of libcurl. Returns whether the exchange may continue.
    func progressed(_ exchange: ActiveExchange, down: Int64, up: Int64) -> Bool {
        // Bytes that libcurl has taken leave later, after its last read callback.
        if (down, up) != moved {
            moved = (down, up)
            exchange.noteActivity()
        }
        // The pool does not check either while libcurl waits.
        if sends, !exchange.isAllAcknowledged, .now - lastLook >= Acknowledgements.interval {
            lastLook = .now
            exchange.noteAcknowledged()
        }
        // The pool cannot check while libcurl blocks its loop.
        if exchange.pace.holds.isEmpty, .now - exchange.pace.lastActivity > exchange.idleTimeout + .seconds(1) {
            exchange.stopReason = .failed(.silence(exchange.idleTimeout))
            return false
        }
        return sockets.stopReason(exchange.id) == nil
    }
}
