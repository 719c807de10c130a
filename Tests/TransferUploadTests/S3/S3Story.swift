import Testing
import TransferCore
import TransferCrypto

@testable import TransferUpload

/// The fault of one request.
enum S3Mishap: CaseIterable {
    /// No byte of the request arrives.
    case refused
    /// The connection ends in the middle of the body.
    case cut
    /// The server carries out the request, and its answer is lost.
    case answerLost
    case internalError
    case slowDown
    /// A status of success with an unexpected body; the server has done nothing.
    case rubbish
    /// A status of success with an error; the server has done nothing.
    case errorUnderSuccess
    /// The process ends before the request arrives, or after the server has carried it out.
    case killedBefore, killedAfter
    /// The server forgets every upload.
    case expired

    var isKill: Bool { self == .killedBefore || self == .killedAfter }
}

/// An upload to the model from its first attempt to its end, through as many processes as needed.
struct S3Story {
    var model = S3Model()
    var source: [UInt8]
    var options: S3Options
    /// The faults by the number of the request, counted from 0 over all attempts.
    var mishaps: [Int: S3Mishap] = [:]
    /// The save at which the process ends, before or just after its text is durable. Saves are counted over all
    /// attempts.
    var killAtSave: (number: Int, isDurable: Bool)?
    var random: S3Random
    private(set) var requests = 0
    private(set) var saves = 0
    private(set) var attempts = 0
    private(set) var restarts = 0
    private(set) var met = 0
    /// The bytes of parts and objects that were sent in bodies.
    private(set) var sent: Int64 = 0
    private(set) var result: UploadResult?
    private(set) var lastError: TransferError?
    private var saved: UploadState?
    private var now: Int64 = 1_700_000_000

    init(_ size: Int, _ options: S3Options, seed: UInt64 = 1) {
        var random = S3Random(seed: seed &+ 99)
        source = (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        self.options = options
        self.random = random
    }

    private enum End {
        case finished, failed, killed
    }

    /// Makes attempts until the upload is done. A queue would make as many.
    mutating func run(limit: Int = 60) throws {
        while attempts < limit {
            attempts += 1
            let end = try attempt()
            if end == .finished { return }
            if end == .failed, lastError?.isTransient == false { return }
            now += 100
        }
        Issue.record("no end after \(limit) attempts: \(lastError?.message ?? "-")")
    }

    private struct UnderWay {
        var actions: [UploadAction]
        var requests: [UploadRequest] = []
        var digests: [(Int, DigestAlgorithm, Range<Int64>)] = []
    }

    private mutating func attempt() throws -> End {
        var dialogue = S3Dialogue(
            location: try S3Location("s3://b/dir/a%20b", endpoint: "https://s3.example"),
            credentials: S3Credentials(accessKey: "A", secret: "S"),
            source: UploadSource(name: "a b", size: Int64(source.count)), options: options, state: saved)
        var way = UnderWay(actions: dialogue.begin(now: now))
        for _ in 0..<100_000 {
            if let end = try perform(&way) { return end }
            let count = way.requests.count + way.digests.count
            guard count > 0 else {
                Issue.record("the dialogue waits for nothing")
                return .failed
            }
            now += 1
            let chosen = Int.random(in: 0..<count, using: &random)
            if chosen >= way.requests.count {
                let (id, algorithm, range) = way.digests.remove(at: chosen - way.requests.count)
                let checksum = try Digest.of(Array(source[Int(range.lowerBound)..<Int(range.upperBound)]), algorithm)
                way.actions = dialogue.handle(.digested(id: id, checksum), now: now)
            } else if let event = try exchange(way.requests.remove(at: chosen)) {
                way.actions = dialogue.handle(event, now: now)
            } else {
                return .killed
            }
        }
        Issue.record("the attempt has no end")
        return .failed
    }

    private mutating func perform(_ way: inout UnderWay) throws -> End? {
        for (index, action) in way.actions.enumerated() {
            switch action {
            case .send(let request):
                #expect(request.ownersFields == .none && !request.followsRedirects)
                way.requests.append(request)
            case .digest(let id, let algorithm, let range): way.digests.append((id, algorithm, range))
            case .save(let text):
                saves += 1
                if let killAtSave, killAtSave.number == saves - 1 {
                    if killAtSave.isDurable { saved = text }
                    return .killed
                }
                saved = text
            case .confirmed(let bytes): #expect((0...Int64(source.count)).contains(bytes))
            case .restart: restarts += 1
            case .forget: saved = nil
            case .learned: break
            case .stop(let id):
                let stopped = try #require(way.requests.firstIndex { $0.id == id })
                let request = way.requests.remove(at: stopped)
                // The request may have arrived all the same.
                if Bool.random(using: &random) { _ = try arrive(request) }
            case .finish(let result):
                self.result = result
                try expectEnd(way, index)
                return .finished
            case .fail(let error):
                lastError = error
                try expectEnd(way, index)
                return .failed
            }
        }
        way.actions = []
        #expect(way.requests.count { $0.url.contains("partNumber=") } <= options.parallel ?? UploadSpread.initial)
        return nil
    }

    private func expectEnd(_ way: UnderWay, _ index: Int) throws {
        #expect(index == way.actions.count - 1, "the end is the last action")
        #expect(way.requests.isEmpty, "nothing is left under way")
    }

    private func body(_ request: UploadRequest) -> [UInt8] {
        switch request.body {
        case .none: []
        case .bytes(let bytes): bytes
        case .source(let range, let prefix, let suffix):
            prefix + source[Int(range.lowerBound)..<Int(range.upperBound)] + suffix
        }
    }

    private mutating func arrive(_ request: UploadRequest) throws -> UploadAnswer {
        let body = body(request)
        model.clock = now
        if case .source = request.body { sent += Int64(body.count) }
        let reply = try model.reply(request, body)
        return answer(request, reply.status, reply.fields, request.method == "HEAD" ? "" : reply.body)
    }

    private func answer(_ request: UploadRequest, _ status: Int, _ fields: [HeaderField], _ body: String)
        -> UploadAnswer
    {
        UploadAnswer(
            request: request.id, head: ResponseHead(status: status, fields: fields), body: Array(body.utf8),
            url: request.url)
    }

    /// - Returns: The event after the request; `nil` if the process ends.
    private mutating func exchange(_ request: UploadRequest) throws -> UploadEvent? {
        defer { requests += 1 }
        let lost = TransferError(.connectionLost, "cut", isTransient: true)
        guard let mishap = mishaps[requests] else { return .answered(try arrive(request)) }
        met += 1
        switch mishap {
        case .refused: return .failed(request: request.id, lost, sent: 0)
        case .cut:
            if case .source = request.body { sent += request.body.length / 2 }
            return .failed(request: request.id, lost, sent: request.body.length / 2)
        case .answerLost:
            _ = try arrive(request)
            return .failed(request: request.id, lost, sent: request.body.length)
        case .internalError: return .answered(answer(request, 500, [], S3Samples.error("InternalError")))
        case .slowDown: return .answered(answer(request, 503, [], S3Samples.error("SlowDown")))
        case .rubbish: return .answered(answer(request, 502, [], "<html><body>Bad gateway</body>"))
        case .errorUnderSuccess:
            guard request.method == "POST", case .bytes(let bytes) = request.body, !bytes.isEmpty else {
                return .answered(try arrive(request))
            }
            return .answered(answer(request, 200, [], S3Samples.error("InternalError")))
        case .killedBefore: return nil
        case .killedAfter:
            _ = try arrive(request)
            return nil
        case .expired:
            model.expire()
            return .answered(try arrive(request))
        }
    }
}
