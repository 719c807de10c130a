import CTransferCurl
import TransferCore
import TransferEventLoop

// What libcurl's callbacks bring of a file server.
extension ActiveExchange {
    enum FileBody { case taken, ignored, stop }

    /// Before bytes are taken: the first ones are the moment of the answer's head.
    func fileBody(_ files: FileServerTask) -> FileBody {
        // libcurl makes lines of a head out of a look at an FTP server's file.
        guard files.fetches else { return .ignored }
        guard answer.phase == .head, let handle else { return .taken }
        switch files.dialogue.bodyBegins(files.file(handle)) {
        case .deliver(let head): return receivedHead(head) ? .taken : .stop
        case .stop(let error):
            stopReason = .failed(error)
            return .stop
        }
    }

    /// Lines of an FTP server's replies.
    func receivedReply(_ lines: UnsafeRawBufferPointer, _ files: FileServerTask) {
        noteActivity()
        for line in lines.split(separator: UInt8(ascii: "\n")) { files.replies.received(line) }
    }

    /// libcurl moved on, perhaps. Returns whether the exchange may go on.
    func fileProgress(_ files: FileServerTask, down: Int64, up: Int64) -> Bool {
        // What was handed to libcurl leaves later, when nobody asks for more.
        if (down, up) != files.moved {
            files.moved = (down, up)
            noteActivity()
        }
        // The pool can't look while libcurl waits where it stands.
        if let idleTimeout, pace.holds.isEmpty, .now - pace.lastActivity > idleTimeout + .seconds(1) {
            stopReason = .failed(.silence(idleTimeout))
            return false
        }
        return files.sockets.stopReason(id) == nil
    }
}
