import CTransferCurl
import TransferCore

// Answers that are abandoned before their end.
extension ActiveExchange {
    /// The number of bytes of an answer that may arrive in vain, so that its connection can serve the next request.
    private static let bearable: Int64 = 256 << 10

    /// Stops the server of an answer whose rest is not wanted. Call this just before libcurl ends the transfer.
    ///
    /// Over HTTP/1 libcurl closes the connection, and the server sends no more. Two other transports would continue:
    /// - libssh2 requests 2 MiB ahead, and waits for all of it before it closes the file (libssh2_sftp_close(3)). Its
    ///   socket is shut down.
    /// - An HTTP/2 server has filled its socket before it learns of the end of a stream (RFC 9113 §6.4). The
    ///   connection is not kept, unless another exchange uses it.
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
