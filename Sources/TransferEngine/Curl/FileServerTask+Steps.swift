import CTransferCurl
import TransferCore

// The steps of a file server's dialogue, each of them one transfer of libcurl's.
extension FileServerTask {
    enum Next {
        case perform(FileServerDialogue.Step)
        /// The dialogue has ended, with its failure; `nil` where it has come to its end.
        case endHop(TransferError?)
        /// The exchange was stopped from outside.
        case giveUp(TransferError)
    }

    /// Handles the end of a step in libcurl.
    ///
    /// - Parameter logins: The accounts that were accepted before.
    func ended(_ exchange: ActiveExchange, _ handle: CurlHandle, _ code: CURLcode, _ logins: AcceptedLogins?) -> Next {
        exchange.connection.connections += handle.long(CURLINFO_NUM_CONNECTS)
        if let reason = sockets.stopReason(exchange.id) { return .giveUp(reason) }
        leaveConnection(exchange, code)
        exchange.settleSent()
        for line in sockets.lastReply(to: exchange.id).split(separator: UInt8(ascii: "\n")) { replies.received(line) }
        if replies.hasLoggedIn { logins?.worked(exchange.request.settings, at: url.origin) }
        let result: FileServerDialogue.Result
        switch exchange.stopReason {
        // The dropped answer is the final result of the dialogue.
        case .bodyUnwanted, .spokenBefore: return .endHop(nil)
        case .failed(let error): return .endHop(error)
        case nil:
            if code == CURLE_OK, step == .probe {
                result = allowed
            } else if code == CURLE_OK, refusal != nil {
                result = .failed(FileServerFault.failure(exchange, self, handle, CURLE_QUOTE_ERROR, logins))
            } else if code == CURLE_OK || isWhole(exchange, code) {
                result = .done(file(handle))
            } else if let error = exchange.connection.linkError(code, exchange.link)
                ?? ProxyFault.error(exchange, handle, code)
            {
                result = .failed(.error(error))
            } else {
                result = .failed(FileServerFault.failure(exchange, self, handle, code, logins))
            }
        }
        if case .failed(let failure) = result,
            makesFoldersNow(failure, sent: exchange.outgoing.sent, exchange.request.settings.files)
        {
            return .perform(step)
        }
        let action = dialogue.ended(
            result, sent: exchange.outgoing.sent, madeFolder: replies.hasRefusals,
            // libcurl's message differs for a refused SIZE.
            refusedFile: handle.lastErrorText.hasPrefix("RETR response"))
        switch action {
        case .perform(let step): return .perform(step)
        case .answer(let head):
            _ = exchange.receivedHead(head)
            return .endHop(exchange.stopError)
        case .finish: return .endHop(nil)
        case .fail(let error): return .endHop(error)
        }
    }

    /// Returns whether all announced bytes came, and only the end of the conversation is missing: TLS's closing alert
    /// on a data connection, or the answer to CLOSE of SFTP.
    ///
    /// Some servers omit the alert, and the length proves the file.
    private func isWhole(_ exchange: ActiveExchange, _ code: CURLcode) -> Bool {
        if isLeftOpen { return code == CURLE_ABORTED_BY_CALLBACK }
        guard code == CURLE_RECV_ERROR, fetches, hasSecureData(exchange.request.settings.files),
            exchange.answer.phase == .body, let size = replies.size
        else { return false }
        return exchange.sink.position == size
    }

    /// Releases the step's connections for reuse, unless an exchange of replies on one may be incomplete.
    private func leaveConnection(_ exchange: ActiveExchange, _ code: CURLcode) {
        // The state is read before the connection is shut down here.
        isDeserted = sockets.isDeserted(exchange.id)
        let hasSecureData = hasSecureData(exchange.request.settings.files)
        if !FileServerFault.leavesConnection(self, code, hasSecureData: hasSecureData) {
            sockets.shutDown(exchange.id)
        }
        sockets.release(exchange.id)
    }
}
