import TransferCore

/// What came through the places of an origin while all of them were taken.
struct RateMeasurement: Sendable, Codable {
    /// What a transfer counts besides its bytes.
    static let request: Int64 = 64 << 10
    static let round = Duration.milliseconds(250)

    private var start: MonotonicTime
    private var work: Int64 = 0
    /// Bytes that transfers under way were seen to have moved.
    private var sampled: Int64 = 0
    /// Bytes that have been told, and not whether their transfer has ended.
    private var reported: Int64 = 0
    /// Rounds without the first; -1 during that.
    private var counted = -1
    private var roundStart: MonotonicTime
    private var roundEnds = 0
    private var roundWork: Int64 = 0

    init(_ now: MonotonicTime) {
        start = now
        roundStart = now
    }

    var rounds: Int { max(0, counted) }

    mutating func add(_ bytes: Int64) { reported += bytes }

    mutating func end() {
        roundEnds += 1
        roundWork += reported + Self.request
        reported = 0
    }

    mutating func sample() {
        roundWork += reported
        sampled += reported
        reported = 0
    }

    /// - Parameter isEnd: Whether a transfer has ended, and not just time passed. Where most of the bytes are those of
    ///   transfers under way, rounds end when these were looked at.
    /// - Returns: Whether one more round was measured.
    mutating func isRoundOver(places: Int, now: MonotonicTime, isEnd: Bool) -> Bool {
        let isTurnedOver = roundEnds >= places
        guard isEnd ? isTurnedOver && sampled * 4 <= work + roundWork : isTurnedOver || now - roundStart >= Self.round,
            roundWork >= Int64(places) * Self.request
        else { return false }
        counted += 1
        if counted == 0 {
            (start, work, sampled) = (now, 0, 0)
        } else {
            work += roundWork
        }
        (roundStart, roundEnds, roundWork) = (now, 0, 0)
        return counted > 0
    }

    /// Work a second; `nil` where no time has passed.
    func rate(_ now: MonotonicTime) -> Double? {
        let seconds = (now - start).inSeconds
        return seconds > 0 ? Double(work) / seconds : nil
    }
}
