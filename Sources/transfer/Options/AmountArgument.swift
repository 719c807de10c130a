import TransferCore
import TransferQueue

/// A rate in bytes a second.
struct RateArgument: OptionValue {
    let bytes: Int64

    init?(argument: String) {
        guard let bytes = ByteCount.parse(argument), bytes > 0 else { return nil }
        self.bytes = bytes
    }

    static let form = "bytes a second, above 0, such as 500K, 10M or 1.5G (K, M, G and T are powers of 1024)"
}

/// An amount of bytes.
struct ByteCountArgument: OptionValue {
    let bytes: Int64

    init?(argument: String) {
        guard let bytes = ByteCount.parse(argument), bytes > 0 else { return nil }
        self.bytes = bytes
    }

    static let form = "bytes, above 0, such as 512K, 64M or 1.5G (K, M, G and T are powers of 1024)"
}

/// A number of jobs, or a share of them.
enum FailureBound: OptionValue, Sendable {
    case jobs(Int)
    case percent(Double)

    init?(argument: String) {
        if argument.hasSuffix("%"), let share = Double(argument.dropLast()), (0...100).contains(share) {
            self = .percent(share)
        } else if let number = Int(argument), number >= 0 {
            self = .jobs(number)
        } else {
            return nil
        }
    }

    static let form = "a number of jobs from 0 on, or a share from 0% to 100%, such as 10 or 2.5%"

    func isExceeded(failed: Int, of jobs: Int) -> Bool {
        switch self {
        case .jobs(let bound): failed > bound
        case .percent(let share): Double(failed) > Double(jobs) * share / 100
        }
    }
}
