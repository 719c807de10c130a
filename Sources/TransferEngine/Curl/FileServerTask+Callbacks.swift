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
        // All bytes are here, and nothing depends on the answer to CLOSE. The connection may be dead by now.
        if isClosing(exchange), .now - exchange.pace.lastActivity > Self.closingTime {
            isLeftOpen = true
            return false
        }
        // The pool cannot check while libcurl blocks its loop.
        if exchange.pace.holds.isEmpty, .now - exchange.pace.lastActivity > exchange.idleTimeout + .seconds(1) {
            exchange.stopReason = .failed(.silence(exchange.idleTimeout))
            return false
        }
        return sockets.stopReason(exchange.id) == nil
    }

    /// The time that an SSH server gets to close a file whose bytes have all come.
    static let closingTime = Duration.seconds(2)

    /// Returns whether libcurl waits only for the answer to CLOSE of a file that was read.
    private func isClosing(_ exchange: ActiveExchange) -> Bool {
        guard url.isSSH, fetches, exchange.answer.phase == .body, let total = exchange.start?.total else {
            return false
        }
        return exchange.sink.position == total
    }
}
