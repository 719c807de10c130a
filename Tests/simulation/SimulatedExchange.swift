import TransferCore
import TransferEventLoop

@testable import TransferEngine

/// An exchange over a simulated network: the real state machine and the real sink, with a shell in libcurl's place.
///
/// `@unchecked Sendable`: a simulation has one thread.
final class SimulatedExchange: @unchecked Sendable {
    private let request: ExchangeRequest
    private let meter: ExchangeMeter
    private let sink: any BodySink
    private let loop: EventLoop
    private let network: NetworkModel
    private let events: @Sendable (ExchangeEvent) -> Void
    private let ended: () -> Void

    private var machine: ExchangeMachine
    private var hop: Hop?
    private var lastHead: ResponseHead?
    private var start: BodyStart?
    private var received: Int64 = 0
    private var sent: Int64 = 0
    /// The bytes of the body that have left.
    private var left: [UInt8] = []
    private var hasRequestLeft = false
    private var isBodyOut = false
    private var isOver = false
    /// The number of the hop; what was planned for an earlier one has no effect.
    private var turn = 0
    var isSuspended = false
    /// The rest of the answer, while the sink takes no more.
    private var held: (() -> Void)?

    init(
        _ request: ExchangeRequest, _ meter: ExchangeMeter, _ sink: any BodySink, _ loop: EventLoop,
        _ network: NetworkModel, events: @escaping @Sendable (ExchangeEvent) -> Void, ended: @escaping () -> Void
    ) {
        self.request = request
        self.meter = meter
        self.sink = sink
        self.loop = loop
        self.network = network
        self.events = events
        self.ended = ended
        machine = ExchangeMachine(request)
    }

    func begin() { perform(machine.start()) }

    private func perform(_ hop: Hop) {
        self.hop = hop
        turn += 1
        sent = 0
        left = []
        isBodyOut = !hop.sendsBody
        let fate = network.fate(of: hop)
        guard fate != .noConnection else {
            return later { $0.hopEnded(TransferError(.cannotConnect, "simulated", isTransient: true, scope: .origin)) }
        }
        later { $0.send(fate) }
    }

    /// Does `work` on the loop after a time of the network.
    private func later(_ delay: Duration? = nil, _ work: @escaping (SimulatedExchange) -> Void) {
        let turn = turn
        World.current.after(delay ?? World.current.pause()) { [self] in
            let step = Step { [self] in
                guard !isOver, turn == self.turn else { return }
                work(self)
            }
            loop.execute { step.run() }
        }
    }

    /// `@unchecked Sendable`: a simulation has one thread.
    private struct Step: @unchecked Sendable {
        let run: () -> Void
    }

    // MARK: The request

    private func send(_ fate: NetworkModel.Fate) {
        guard let hop else { return }
        hasRequestLeft = true
        do throws(TransferError) {
            if hop.sendsBody {
                let length = request.body.length ?? 0
                let piece = try nextPiece(at: sent, World.current.between(1, length > 1 << 20 ? 1 << 19 : 1 << 16))
                left += piece
                sent += Int64(piece.count)
                meter.update(sent: sent)
                if case .cutRequest(let share) = fate, Double(sent) >= share * Double(length) { return cut(hop) }
                if sent < length { return later { $0.send(fate) } }
                isBodyOut = true
            }
        } catch {
            return hopEnded(error)
        }
        if case .cutRequest = fate { return cut(hop) }
        // Bytes that have left the sender arrive, even if the sender is killed.
        let (whole, turn, process) = (left, turn, World.current.process)
        World.current.after(World.current.pause(), of: 0) { [weak self, network] in
            let answer = network.answer(hop, whole, fate)
            guard let self else { return }
            World.current.within(process) {
                guard !isOver, !World.current.isDead(process), turn == self.turn else { return }
                answered(answer, fate)
            }
        }
    }

    /// Loses the connection before the end of the request; a part of what was sent arrives.
    private func cut(_ hop: Hop) {
        let count = World.current.between(0, left.count)
        // The server may get the part only after the next request.
        let part = Array(left.prefix(count))
        World.current.after(World.current.pause(), of: 0) { [network] in network.begin(hop, part) }
        hopEnded(.lost)
    }

    private func nextPiece(at offset: Int64, _ count: Int) throws(TransferError) -> [UInt8] {
        switch request.body {
        case .none, .stream, .window: return []
        case .bytes(let bytes): return Array(bytes.dropFirst(Int(offset)).prefix(count))
        case .part(let part):
            if part.isLast(count, at: offset), part.file.look() != .same { throw part.changed }
            var bytes = [UInt8](repeating: 0, count: min(count, Int(part.length - offset)))
            guard !bytes.isEmpty else { return [] }
            let read = bytes.withUnsafeMutableBytes { buffer in
                Result { () throws(TransferError) in try part.read(into: buffer, at: offset) }
            }
            return Array(bytes.prefix(try read.get()))
        }
    }

    private func answered(_ answer: ServerModel.Answer, _ fate: NetworkModel.Fate) {
        switch fate {
        case .lostAnswer: return later { $0.hopEnded(.lost) }
        case .silence:
            return later(.seconds(60)) { exchange in
                exchange.hopEnded(TransferError(.timedOut, "simulated silence", isTransient: true, scope: .origin))
            }
        default: break
        }
        later { exchange in
            exchange.meter.update(acknowledged: exchange.sent)
            exchange.receive(answer, fate)
        }
    }

    // MARK: The answer

    private func receive(_ answer: ServerModel.Answer, _ fate: NetworkModel.Fate) {
        let block = Array(answer.fields.map { "\($0.name): \($0.value)\r\n" }.joined().utf8)
        let head = ResponseHead(status: answer.status, block: block, received: WallTime.seconds)
        if !machine.isConfirming { lastHead = head }
        switch machine.received(head, redirectTarget: nil, now: WallTime.seconds) {
        case .deliver(let start):
            self.start = start
            do throws(TransferError) { try sink.begin(start) } catch { return hopEnded(error) }
            meter.update(total: start.total)
            meter.update(position: start.continued)
            if let restart = start.restart { events(.restarted(reason: restart)) }
            events(.responded(start))
            var end = answer.body.count
            if case .cutAnswer(let share) = fate { end = Int(share * Double(end)) }
            deliver(answer.body, from: 0, to: end)
        case .drop, .skip, .ask:
            if case .cutAnswer = fate, !answer.body.isEmpty { return hopEnded(.lost) }
            hopEnded(nil)
        }
    }

    private func deliver(_ body: [UInt8], from first: Int, to end: Int) {
        guard !isSuspended, sink.isReady else {
            held = { [self] in deliver(body, from: first, to: end) }
            return
        }
        guard first < end else { return hopEnded(end < body.count ? .lost : nil) }
        let next = min(end, first + World.current.between(1, 1 << 16))
        let before = sink.position
        do throws(TransferError) {
            let written = body[first..<next].withUnsafeBytes { bytes in
                Result { () throws(TransferError) in try sink.write(bytes) }
            }
            try written.get()
        } catch {
            note(max(0, sink.position - before))
            return hopEnded(error)
        }
        note(Int64(next - first))
        meter.update(position: sink.position)
        later { $0.deliver(body, from: next, to: end) }
    }

    private func note(_ count: Int64) {
        received += count
        meter.update(received: received)
    }

    func proceed() {
        guard let held else { return }
        self.held = nil
        held()
    }

    // MARK: The end

    private func hopEnded(_ error: TransferError?) {
        switch machine.hopEnded(error ?? shortfall, position: sink.position) {
        case .perform(let next): perform(next)
        case .succeed(let head): end(.success(head))
        case .fail(let error): end(.failure(error))
        }
    }

    private var shortfall: TransferError? {
        if case .delivering = machine.state { return sink.shortfall }
        return nil
    }

    func end(_ result: Result<ResponseHead, TransferError>) {
        guard !isOver else { return }
        isOver = true
        held = nil
        machine.abandon()
        ended()
        let file = sink as? FileSink
        let judged = result.mapError { error in
            var error = error
            error.isBeforeRequest = !hasRequestLeft
            return error
        }
        var outcome = ExchangeOutcome(
            result: judged, head: lastHead, start: start, finalURL: hop?.url ?? request.url, position: sink.position,
            received: received, sent: sent, metrics: ExchangeMetrics())
        outcome.answers = isBodyOut ? .request : .beginning
        outcome.bodyLeft = sent > 0 || hasRequestLeft && hop?.sendsBody == true && request.body.length == 0
        switch judged {
        case .success: outcome.digest = file?.finishDigest()
        case .failure: outcome.resumeData = file?.resumeData()
        }
        outcome.doubtfulClaim = machine.resumption.claim ?? file?.doubtfulClaim
        outcome.isUntouched = file?.isUntouched ?? true
        outcome.isLengthUnproven = machine.isLengthUnproven
        outcome.isLengthConfirmed = machine.isLengthConfirmed
        outcome.answer = (sink as? AnswerSink)?.bytes ?? []
        events(.ended(outcome))
    }
}

extension TransferError {
    fileprivate static let lost = TransferError(.connectionLost, "simulated loss", isTransient: true, scope: .transfer)
}
