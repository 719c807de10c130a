import Glibc
import Synchronization

/// The same load for every client: a number of GETs of one URL, with a fixed concurrency, each in a worker's loop.
public struct RequestLoad: Sendable {
    public let url: String
    /// The number of measured requests.
    public let count: Int
    /// The number of concurrent requests.
    public let concurrency: Int
    /// The number of requests before the clock starts, which fill connections, caches and lazy parts of the client.
    public let warmUp: Int
    /// The length of each answer in bytes.
    public let length: Int

    /// Reads `URL LENGTH COUNT CONCURRENCY WARMUP` from the command line, or ends the process with status 64.
    public init() {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.dropFirst().compactMap(Int.init)
        guard let url = arguments.first, numbers.count == 4, numbers[1] > 0, numbers[2] > 0 else {
            complain("usage: \(CommandLine.arguments[0]) URL LENGTH COUNT CONCURRENCY WARMUP")
            exit(64)
        }
        self.url = url
        length = numbers[0]
        count = numbers[1]
        concurrency = numbers[2]
        warmUp = numbers[3]
    }

    /// Runs the load, and prints the costs as one line of JSON.
    ///
    /// - Parameter get: A closure that performs one request and returns the length of its body; it throws on failure.
    public func run(_ client: String, get: @escaping @Sendable () async throws -> Int) async {
        let early = await perform(warmUp, get)
        let before = Usage()
        let failures = await perform(count, get)
        let spent = Usage().since(before)
        let errors = early.count + failures.count
        if let first = (early + failures).first { complain("\(client): \(errors) failed; the first: \(first)") }
        print(
            """
            {"client":"\(client)","requests":\(count),"errors":\(errors),"seconds":\(spent.seconds),\
            "requestsPerSecond":\(Double(count) / spent.seconds),"cpuSeconds":\(spent.user + spent.system),\
            "userSeconds":\(spent.user),"systemSeconds":\(spent.system),"peakKiB":\(Usage().peak)}
            """)
    }

    private func perform(_ count: Int, _ get: @escaping @Sendable () async throws -> Int) async -> [String] {
        let next = Counter()
        return await withTaskGroup(of: [String].self) { group in
            for _ in 0..<concurrency {
                group.addTask {
                    var failures: [String] = []
                    while next.take() <= count {
                        do {
                            let got = try await get()
                            if got != length { failures.append("\(got) bytes instead of \(length)") }
                        } catch {
                            failures.append("\(error)")
                        }
                    }
                    return failures
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }
}

/// Writes a line for the user. `fputs` is unusable, as Swift sees `stderr` as a variable.
private func complain(_ line: String) {
    var text = line + "\n"
    text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

private final class Counter: Sendable {
    private let value = Atomic(0)

    func take() -> Int { value.add(1, ordering: .relaxed).newValue }
}

/// The time and the kernel's accounting of this process, for all threads together.
private struct Usage {
    var seconds: Double
    var user: Double
    var system: Double
    /// The peak in KiB since the start of the process.
    var peak: Int

    init() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        var usage = rusage()
        getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
        func inSeconds(_ value: timeval) -> Double { Double(value.tv_sec) + Double(value.tv_usec) / 1e6 }
        seconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        user = inSeconds(usage.ru_utime)
        system = inSeconds(usage.ru_stime)
        peak = usage.ru_maxrss
    }

    func since(_ before: Usage) -> Usage {
        var spent = self
        spent.seconds -= before.seconds
        spent.user -= before.user
        spent.system -= before.system
        return spent
    }
}
