import CTransferCurl
import TransferCore

// Answers that are left in the middle.
extension ActiveExchange {
    /// Bytes of an answer that may come in vain, so that its connection serves the next request.
    private static let bearable: Int64 = 256 << 10

    /// The rest of the answer is not wanted, and libcurl is about to be told.
    ///
    /// Over HTTP/1 libcurl closes the connection, and the server sends no more. Two others would go on:
    /// - libssh2 asks for 2 MiB ahead, and waits for all of it before it closes the file (libssh2_sftp_close(3)). Its
    ///   socket is shut down.
    /// - An HTTP/2 server has filled its socket when it hears of the end of a stream (RFC 9113 §6.4). The connection is not
    ///   kept, where no other exchange uses it.
    func leaveAnswer() {
        guard let handle else { return }
        if let files {
            if files.url.isSSH, files.fetches { files.sockets.shutDown(id) }
            return
        }
        guard answer.phase == .body, handle.long(CURLINFO_HTTP_VERSION) >= Int(CURL_HTTP_VERSION_2_0) else { return }
        if let total = start?.total, total - sink.position < Self.bearable { return }
        try? handle.set(CURLOPT_FORBID_REUSE, 1)
        // The next transfer of the handle sets all of its options anew.
        handle.shape = nil
    }
}
