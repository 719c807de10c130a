import CTransferCurl
import TransferCore

// Exchanges with file servers, each in the steps of its dialogue.
extension CurlPool {
    /// Makes a step of what comes next, where this is a pool for file servers. Returns whether the exchange goes on.
    func beginFiles(_ exchange: ActiveExchange, _ hop: Hop) -> Bool {
        guard let sockets else { return true }
        do throws(TransferError) {
            exchange.files = try FileServerTask(hop, exchange.request.settings, sockets)
            return true
        } catch {
            exchange.machine.abandon()
            end(exchange, .failure(error))
            return false
        }
    }

    /// libcurl has come to the end of a step.
    func stepEnded(_ exchange: ActiveExchange, _ files: FileServerTask, _ handle: CurlHandle, _ code: CURLcode) {
        exchange.connection.connections += handle.long(CURLINFO_NUM_CONNECTS)
        if let reason = files.sockets.stopReason(exchange.id) {
            exchange.machine.abandon()
            return end(exchange, .failure(reason))
        }
        // Looked at before it's shut down here.
        files.isDeserted = files.sockets.isDeserted(exchange.id)
        let hasSecureData = files.hasSecureData(exchange.request.settings.files)
        if !FileServerFault.leavesConnection(files, code, hasSecureData: hasSecureData) {
            files.sockets.shutDown(exchange.id)
        }
        files.sockets.release(exchange.id)
        exchange.settleSent()
        if files.replies.hasLoggedIn { logins?.worked(exchange.request.settings, at: files.url.origin) }
        let result: FileServerDialogue.Result
        switch exchange.stopReason {
        // The answer that is dropped is the dialogue's last word.
        case .bodyUnwanted, .spokenBefore: return hopEnded(exchange, nil)
        case .failed(let error): return hopEnded(exchange, error)
        case nil:
            if code == CURLE_OK {
                result = .done(files.file(handle))
            } else if let error = exchange.connection.linkError(code, exchange.link)
                ?? proxyError(exchange, handle, code)
            {
                result = .failed(.error(error))
            } else {
                result = .failed(FileServerFault.failure(exchange, files, handle, code, logins))
            }
        }
        let action = files.dialogue.ended(
            result, sent: exchange.outgoing.sent, madeFolder: files.replies.hasRefusals,
            // libcurl's words, which for a refused SIZE are others.
            refusedFile: handle.lastErrorText.hasPrefix("RETR response"))
        switch action {
        case .perform(let step):
            guard let hop = exchange.hop else { return }
            release(exchange)
            files.begin(step)
            transfer(hop, of: exchange, resolved: [])
        case .answer(let head):
            _ = exchange.receivedHead(head)
            hopEnded(exchange, exchange.stopError)
        case .finish: hopEnded(exchange, nil)
        case .fail(let error): hopEnded(exchange, error)
        }
    }
}
