import CTransferCurl
import CTransferLinux
import TransferCore
import TransferEventLoop

// The request's body, as libcurl's callbacks ask for it.
extension ActiveExchange {
    enum Provided {
        case bytes(Int)
        /// The next piece has not come yet.
        case later
        /// The transfer is stopped.
        case failed
    }

    /// Fills the buffer with the next bytes of the request's body.
    func provideBody(_ buffer: UnsafeMutableRawBufferPointer) -> Provided {
        noteActivity()
        let count: Int
        switch body {
        case .none: count = 0
        case .bytes(let bytes):
            count = min(buffer.count, bytes.count - Int(outgoing.sent))
            bytes.withUnsafeBytes { source in
                buffer.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: source[Int(outgoing.sent)..<Int(outgoing.sent) + count]))
            }
        case .part(let part):
            do throws(TransferError) {
                if part.isLast(buffer.count, at: outgoing.sent) {
                    guard try mayGiveTheLast(part) else {
                        pace.holds.insert(.source)
                        return .later
                    }
                }
                count = try part.read(into: buffer, at: outgoing.sent)
            } catch {
                stopReason = .failed(error)
                return .failed
            }
        case .stream, .window:
            guard let feeder else { return .failed }
            switch feeder.provide(buffer) {
            case .success(let provided?): count = provided
            case .success(nil):
                pace.holds.insert(.body)
                return .later
            case .failure(let error):
                stopReason = .failed(error)
                return .failed
            }
        }
        outgoing.sent += Int64(count)
        meter.update(sent: outgoing.sent)
        throttle(count)
        Failpoint.reached(.bodyProvided)
        if outgoing.sent == body.length { Failpoint.reached(.bodyComplete) }
        return .bytes(count)
    }

    /// Returns whether the file still is what was sent of it, so that its last bytes may leave.
    ///
    /// - Returns: `false` where a worker has to compare the file first, as all of it must be read again.
    /// - Throws: `sourceChanged`.
    private func mayGiveTheLast(_ part: SourcePart) throws(TransferError) -> Bool {
        switch part.file.look() {
        case .same: return true
        case .other: throw part.changed
        case .touched, .retimed:
            // A loop for file servers may block.
            guard files == nil else {
                guard part.file.hasWhatWasSent() else { throw part.changed }
                return true
            }
            guard !outgoing.isSourceOther, let compareSource else { throw part.changed }
            compareSource(part.file)
            return false
        }
    }

    /// Returns the body, where it leaves together with the head.
    ///
    /// - Throws: `sourceChanged`.
    func bodyToJoin(_ hop: Hop) throws(TransferError) -> [UInt8]? {
        guard request.settings.joinsSmallBodies, hop.sendsBody, !hop.mayExpect, limiters.isEmpty,
            pace.holds.isEmpty, let length = body.length, length > 0, length <= Self.joinLimit
        else { return nil }
        switch body {
        case .bytes(let bytes): return bytes
        case .part(let part): return try part.bytes()
        case .none, .stream, .window: return nil
        }
    }

    /// The longest body that leaves with its head, in bytes; libcurl copies it twice.
    private static let joinLimit: Int64 = 16 << 10

    /// Counts the bytes that left, in place of those that libcurl took. With SFTP only acknowledged bytes count.
    func settleSent() {
        guard let handle else { return }
        if outgoing.isJoined {
            outgoing.sent = max(outgoing.sent, handle.offset(CURLINFO_SIZE_UPLOAD_T))
        } else if let files, files.sends {
            outgoing.sent = min(outgoing.sent, handle.offset(CURLINFO_SIZE_UPLOAD_T))
        } else {
            return
        }
        meter.update(sent: outgoing.sent)
    }

    /// Prepares to send the body again from `offset`, as libcurl asks. Returns whether that can be done.
    func rewindBody(to offset: Int64) -> Bool {
        // Without an answer libcurl repeats the request on its own initiative, because the connection died.
        let rule = RepeatRule(method: hop?.method ?? request.method, resendsBody: request.settings.resendsBody)
        if answer.status == 0, outgoing.sent > offset, !rule.allows(true) { return false }
        if let feeder, hop?.replacedBody == nil {
            guard offset == 0 else { return false }
            feeder.rewind()
        }
        outgoing.sent = offset
        meter.update(sent: offset)
        return true
    }
}

// The arrival of an exchange's request body at the server.
extension ActiveExchange {
    /// Whether the step under way sends bytes of a body.
    var sendsBytes: Bool {
        if let files { return files.sends }
        return hop?.sendsBody == true && body.length != 0
    }

    var isAllAcknowledged: Bool { body.length.map { meter.acknowledged >= $0 } ?? false }

    /// The bytes of the body that libcurl has written to its socket. With SFTP these are the bytes that the server has
    /// acknowledged.
    var givenToNetwork: Int64 {
        guard let handle else { return meter.acknowledged }
        let given = handle.offset(CURLINFO_SIZE_UPLOAD_T)
        return outgoing.isJoined ? min(given, body.length ?? given) : min(given, outgoing.sent)
    }

    func acknowledged(upTo count: Int64) {
        let new = count - meter.acknowledged
        guard new > 0 else { return }
        traffic.moved(new, at: .now)
        meter.update(acknowledged: count)
        noteActivity()
    }

    /// Updates the count of acknowledged bytes of a body that shares its connections with no other.
    func noteAcknowledged() {
        let queued = files.map { $0.url.isSSH ? 0 : $0.sockets.unacknowledged(of: id) } ?? 0
        acknowledged(upTo: givenToNetwork - queued)
    }

    /// Updates the count of acknowledged bytes for a socket that is about to be closed, and that carries only this
    /// body.
    func noteAcknowledged(over socket: Int32) {
        guard handle != nil, answer.status == 0 || answer.phase == .head else { return }
        let queued = transfer_unacknowledged(socket)
        if queued >= 0 { acknowledged(upTo: givenToNetwork - queued) }
    }

    /// Sets the final count of bytes that arrived. An answer to the whole body acknowledges all of it.
    ///
    /// After a broken transfer the last measured count remains.
    func settleAcknowledged(_ result: Result<ResponseHead, TransferError>) {
        let isAnswered = if case .success = result { true } else { answer.status >= 200 && outgoing.isBodyOut }
        if isAnswered { meter.update(acknowledged: outgoing.sent) }
    }

    /// Measures the rate since the last measurement. A sufficient rate counts as a sign of life.
    func measureRate(now: MonotonicTime) {
        guard let leastRate else { return }
        let moved = meter.received + meter.acknowledged
        guard let last = pace.lastLook else {
            pace.lastLook = (now, moved)
            return
        }
        let seconds = (now - last.time).inSeconds
        guard seconds >= 1 else { return }
        pace.lastLook = (now, moved)
        if Double(moved - last.moved) >= Double(leastRate) * seconds { noteLife(at: now) }
    }
}
