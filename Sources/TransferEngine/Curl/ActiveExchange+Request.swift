import CTransferCurl
import TransferCore

// The moment before a request leaves, and what its answer then belongs to.
extension ActiveExchange {
    /// libcurl has a connection, and is about to make the request on it. Returns whether it may.
    ///
    /// - Parameter ends: The connection's.
    func mayMakeRequest(between ends: @autoclosure () -> PlainSockets.Ends) -> Bool {
        guard isFirstRequest || mayBeRepeated else {
            // A small body left with its head.
            if outgoing.isJoined { outgoing.sent = body.length ?? 0 }
            stopReason = .failed(
                TransferError(.connectionLost, "the connection was lost before the answer", isTransient: true))
            return false
        }
        if !outgoing.hasMadeRequest { noteLife() }
        outgoing.hasMadeRequest = true
        guard let sockets = connection.sockets, let hop, hop.url.hasUTF8Prefix(Self.scheme) else { return true }
        return isQuiet(ends(), sockets, hop)
    }

    /// Without an answer it's libcurl's own idea to make a request again, as the connection died.
    private var isFirstRequest: Bool { !outgoing.hasMadeRequest || answer.status != 0 }

    private var mayBeRepeated: Bool {
        guard let hop else { return false }
        // A body that is read piece by piece may not have left at all; that is known when it's to be read again
        // (``rewindBody(to:)``). Others left with the head.
        let isAhead = hop.sendsBody && !outgoing.isJoined && body.length != 0
        return isAhead
            || RepeatRule(method: hop.method, resendsBody: request.settings.resendsBody).allows(hop.sendsBody)
    }

    /// Whether nothing has come before anything was asked: it would be taken for the answer (RFC 9112 §9.2). Under TLS what
    /// waits at the socket may be TLS's own.
    private func isQuiet(_ ends: PlainSockets.Ends, _ sockets: PlainSockets, _ hop: Hop) -> Bool {
        let isNew = sockets.isNew(ends, among: connection.opened)
        connection.acknowledged = nil
        guard let socket = sockets.socket(of: ends), !isTLSToProxy(hop) else { return true }
        guard PlainSockets.hasUnread(socket) else {
            // An answer may still come before the request has left.
            connection.acknowledged = PlainSockets.Acknowledged(socket)
            return true
        }
        PlainSockets.giveUp(socket)
        guard !isNew else {
            stopReason = .failed(
                TransferError(.badResponse, "the server spoke before it was asked", isTransient: true))
            return false
        }
        stopReason = .spokenBefore
        return false
    }

    /// Whether the head that begins may be the request's answer: of one that left before the request came its sender has
    /// acknowledged nothing of that. What became of the request nobody knows then.
    func mayBeAnswer() -> Bool {
        guard let acknowledged = connection.acknowledged else { return true }
        connection.acknowledged = nil
        if acknowledged.hasGrown { return true }
        PlainSockets.giveUp(acknowledged.socket)
        stopReason = .failed(
            TransferError(.connectionLost, "an answer came that was sent before its request", isTransient: true))
        return false
    }

    private func isTLSToProxy(_ hop: Hop) -> Bool {
        request.settings.way(to: hop.url).map { ProxyAddress($0).scheme == "https" } ?? false
    }

    private static let scheme = Array("http://".utf8)

    /// A final head has come: whether all of the body had gone to the network by then.
    func noteWhetherBodyIsOut() {
        guard let hop, hop.sendsBody, files == nil, let length = body.length, let handle else {
            outgoing.isBodyOut = true
            return
        }
        outgoing.isBodyOut = handle.offset(CURLINFO_SIZE_UPLOAD_T) >= length
    }

    /// Whether some of the hop's request may have left; to a file server, a command behind the login.
    var hasRequestLeft: Bool { outgoing.sent > 0 || files?.hasBegun ?? outgoing.hasMadeRequest }

    /// A request whose body is there and has no bytes has left.
    var emptyBodyLeft: Bool { hasRequestLeft && hop?.sendsBody == true && body.length == 0 }

    /// The part of the request that the last answer speaks of: the whole, its beginning, or another request.
    var answerScope: AnswerScope {
        guard let hop, !hop.isTurned(from: request) else { return .another }
        return outgoing.isBodyOut ? .request : .beginning
    }
}

extension Hop {
    /// Whether redirects, or those who decided about them, made another request of it than the one that was given.
    func isTurned(from request: ExchangeRequest) -> Bool {
        method != request.method || sendsBody == request.body.isEmpty || replacedBody != nil
    }
}
