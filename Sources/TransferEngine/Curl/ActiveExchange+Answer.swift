import CTransferCurl
import CTransferLinux
import TransferCore
import TransferEventLoop

// The answer, as libcurl's callbacks deliver it.
extension ActiveExchange {
    /// Handles one line of the head. Returns whether the transfer continues.
    func receivedHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        if line.starts(with: Self.statusPrefix), let status = Self.status(line) {
            guard mayBeAnswer() else { return false }
            answer.status = status
            answer.isFramed = line[Self.statusPrefix.count] != UInt8(ascii: "1")
            // A 1xx answer says that the server works on a body (102 of RFC 2518 §10.1, 104 of resumable uploads).
            // A 1xx answer to a request without a body would keep alive a request that gets no final answer.
            if status >= 200 || hop?.sendsBody == true { noteActivity() }
            answer.block = []
            // The capacity is enough for most heads.
            answer.block.reserveCapacity(512)
            answer.phase = .head
            request.onHeadLine?(line)
            return true
        }
        guard answer.phase == .head else {
            receivedTrailerLine(line)
            return true
        }
        request.onHeadLine?(line)
        let isEnd = line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n")
        guard isEnd else {
            guard answer.block.count + line.count <= HeadRule.largest else {
                stopReason = .failed(TransferError(.badResponse, HeadRule.tooLong, isTransient: true))
                return false
            }
            answer.block.append(contentsOf: line)
            return true
        }
        // 1xx answers come before the final one, which starts with a status line of its own.
        guard answer.status >= 200 else {
            answer.interims += 1
            if answer.interimsBegan == nil { answer.interimsBegan = .now }
            guard answer.interims <= allowedInterims else {
                stopReason = .failed(TransferError(.badResponse, Self.tooManyInterims, isTransient: true))
                return false
            }
            // No request here asks for another protocol in a way that could be spoken (RFC 9110 §15.2.2).
            guard answer.status != 101 else {
                stopReason = .failed(TransferError(.badResponse, Self.otherProtocol, isTransient: true))
                return false
            }
            if answer.status > 101 { events(.interim(ResponseHead(status: answer.status, block: answer.block))) }
            return true
        }
        do throws(TransferError) {
            let lines = try HeadRule.judge(answer.block)
            return receivedHead(ResponseHead(status: answer.status, block: lines, received: WallClock.seconds))
        } catch {
            stopReason = .failed(error)
            return false
        }
    }

    /// Keeps one line behind a delivered body (RFC 9110 §6.5). Lines beyond the bound of a head are left out.
    private func receivedTrailerLine(_ line: UnsafeRawBufferPointer) {
        guard answer.phase == .body, answer.trailers.count + line.count <= HeadRule.largest else { return }
        answer.trailers.append(contentsOf: line)
    }

    /// The number of 1xx answers that a hop may have. The server reports the progress of a long upload several times a
    /// second.
    private var allowedInterims: Int {
        guard hop?.sendsBody == true, let began = answer.interimsBegan else { return 100 }
        return 100 + Int(10 * (MonotonicTime.now - began).inSeconds)
    }

    private static let otherProtocol =
        "the server answered 101 Switching Protocols, to a protocol for which nothing asked here"

    private static let tooManyInterims = "the server sent one 1xx answer after the other, and no final one"

    func receivedHead(_ head: ResponseHead) -> Bool {
        if !machine.isConfirming { lastHead = head }
        noteWhetherBodyIsOut()
        refusalBody = []
        HopCookies.received(head, self)
        let target = head.status == 300 || RedirectRule.isRedirect(head.status) ? redirectTarget(head) : nil
        let action = machine.received(head, redirectTarget: target, now: WallClock.seconds)
        if let challenge = machine.challenge { events(.challenged(challenge)) }
        if target != nil, case .dropping = machine.state, let hop = machine.nextHop, let here = self.hop {
            events(.redirected(RedirectProposal(head: head, from: here, next: hop)))
        }
        return take(action, head)
    }

    /// Carries out an action of the state machine. Returns whether the transfer continues.
    func take(_ action: ExchangeMachine.HeadAction, _ head: ResponseHead) -> Bool {
        switch action {
        case .ask(let proposal):
            answer.phase = .deciding
            events(.redirected(proposal))
            return true
        case .deliver(let start):
            answer.phase = .body
            self.start = start
            if start.total == nil, !answer.isFramed, let handle {
                answer.closure = TLSClosure(transfer_easy_get_tls(handle.raw))
            }
            Failpoint.reached(.headReceived)
            do throws(TransferError) {
                try chooseDecoder(start)
                try sink.begin(start)
            } catch {
                stopReason = .failed(error)
                return false
            }
            let isCounted = isCoded || request.settings.decodes && start.isCoded
            meter.update(total: isCounted ? head.contentLength : start.total)
            meter.update(position: start.continued)
            if let restart = start.restart { events(.restarted(reason: restart)) }
            events(.responded(start))
            return true
        case .skip:
            answer.phase = .dropping
            return true
        case .drop:
            answer.phase = .dropping
            // Reading a long body costs more than a new connection.
            if let length = head.contentLength, length > Self.dropLimit {
                stopReason = .bodyUnwanted
                return false
            }
            return true
        }
    }

    enum Received {
        case taken
        /// The sink takes no more for now.
        case held
        /// The loop's other exchanges get their turn first.
        case paused
        case stop
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer) -> Received {
        guard let decoder = answer.decoder, answer.phase == .body, stopReason == nil else {
            return receivedUncoded(bytes) ? .taken : .stop
        }
        return decode(bytes, decoder)
    }

    /// Handles bytes of a body without codings. Returns whether the transfer continues.
    private func receivedUncoded(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // A piece that libcurl held back during a pause may come after a refusal. It would leave a gap in the file.
        guard stopReason == nil else { return false }
        noteActivity()
        switch answer.phase {
        case .body:
            let before = sink.position
            do throws(TransferError) {
                try sink.write(bytes)
            } catch {
                // The rest belongs to another exchange, or is lost.
                noteReceived(max(0, sink.position - before))
                stopReason = .failed(error)
                return false
            }
            // The position comes first: an observer of the first bytes reads it.
            meter.update(position: sink.position)
            noteReceived(Int64(bytes.count))
            path?.received(over: connection.path.last)
            throttle(bytes.count)
            return true
        case .dropping:
            answer.dropped += bytes.count
            refusalBody += bytes.prefix(max(0, request.settings.keptOfRefusals - refusalBody.count))
            guard answer.dropped <= Self.dropLimit else {
                stopReason = .bodyUnwanted
                return false
            }
            return true
        case .head, .deciding, .trailers:
            // The bytes are HTTP/0.9, or a body before its head.
            stopReason = .failed(TransferError(.badResponse, "not an HTTP answer", isTransient: true))
            return false
        }
    }

    /// Returns the target of a redirect. Several fields that differ name none, as a party on the way may have added
    /// one.
    private func redirectTarget(_ head: ResponseHead) -> String? {
        guard let location = head.value("Location"), let base = hop?.url,
            head.fields.allSatisfy({ !$0.isNamed("Location") || $0.value == location })
        else { return nil }
        return RedirectTarget.resolve(location, against: base)
    }

    /// The longest unwanted body, in bytes, that is read to keep the connection.
    private static let dropLimit = 64 << 10
    private static let statusPrefix = Array("HTTP/".utf8)

    private static func status(_ line: UnsafeRawBufferPointer) -> Int? {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        let digits = line[(space + 1)...].prefix { $0 >= 0x30 && $0 <= 0x39 }
        guard digits.count == 3 else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}

// The removal of codings from answers before they are delivered.
extension ActiveExchange {
    /// Chooses the decoder of the body.
    ///
    /// A message that cannot be decoded is delivered as it came, with its Content-Encoding. A file cannot be: it has no
    /// place for that field.
    func chooseDecoder(_ start: BodyStart) throws(TransferError) {
        answer.decoder = nil
        let (isFile, decodes) =
            switch request.intent {
            case .message: (false, request.settings.decodes)
            case .representation: (true, request.settings.decodesFiles)
            }
        guard decodes, start.isCoded, let coding = start.head.contentCoding else { return }
        let layers = ContentCoding.layers(coding)
        guard layers.allSatisfy(\.isAvailable) else {
            guard isFile else { return }
            let name = String(coding.prefix(60)).debugDescription
            throw .undecodable("its Content-Encoding is \(name), which is unknown here", isTransient: false)
        }
        if !layers.isEmpty { answer.decoder = try ContentDecoder(layers) }
    }

    /// Whether the body is decoded before it is delivered.
    var isCoded: Bool { answer.decoder != nil }

    func decode(_ bytes: UnsafeRawBufferPointer, _ decoder: ContentDecoder) -> Received {
        noteActivity()
        // libcurl delivers a refused piece again from its beginning, perhaps in smaller parts.
        let known = min(answer.decodedAhead, bytes.count)
        answer.decodedAhead -= known
        var rest = UnsafeRawBufferPointer(rebasing: bytes[known...])
        defer { noteReceived(Int64(bytes.count - known - rest.count)) }
        var turn = 0
        do throws(TransferError) {
            while true {
                // A small piece may become a thousand times as long, and more: the sink is asked before each part of
                // it.
                let isLong = turn >= Self.decodedInOneTurn
                guard sink.isReady, !isLong else {
                    answer.decodedAhead += bytes.count - rest.count
                    if !sink.isReady { return .held }
                    (pace.pausedUntil, pace.mustPause) = (.now, true)
                    return .paused
                }
                guard let piece = try decoder.next(&rest) else { break }
                answer.decoded += Int64(piece.count)
                if let limit = request.settings.maxDecodedLength, answer.decoded > limit {
                    throw TransferError(
                        .badResponse, "the answer is larger than \(CountText.bytes(limit)) when it is decoded")
                }
                try sink.write(piece)
                if isTimed { turn += piece.count }
            }
        } catch {
            stopReason = .failed(error)
            return .stop
        }
        // Progress is reported in encoded bytes, whose number the server has announced.
        settleMeter()
        throttle(bytes.count)
        return .taken
    }

    /// Whether a piece that becomes very long is decoded in several turns; `RatePauses` begins them.
    private var isTimed: Bool { request.settings.decodesFiles }

    /// The decoded bytes of one turn: some milliseconds of work, for which other transfers of the loop can wait.
    private static let decodedInOneTurn = 8 << 20

    /// The reason why the body is incomplete although its framing says otherwise: its last codings have an end of their
    /// own.
    var decodingFailure: TransferError? {
        // A part of a coded body need not have its end (RFC 9110 §14.2: ranges are of the coded bytes).
        guard answer.phase == .body, start?.head.status != 206 else { return nil }
        return answer.decoder?.failure
    }

    /// Sets the final count of the coded bytes that came.
    func settleMeter() {
        guard isCoded, let handle else { return }
        meter.update(position: handle.offset(CURLINFO_SIZE_DOWNLOAD_T))
    }
}

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
