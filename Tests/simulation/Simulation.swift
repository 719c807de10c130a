import Glibc

/// The simulator: many runs of the queue, each repeated to the last step by its seed.
///
/// `transfer-simulation [--seed N] [--runs N] [--until FAULTS] [--jobs N] [--fleet|--alone] [--verbose]`
@main
struct Simulation {
    static func main() {
        let options = Options(CommandLine.arguments.dropFirst())
        repeatHashes()
        SimulatedThreads.install()
        Coverage.share()
        var children: [pid_t: UInt64] = [:]
        var failed: [UInt64] = []
        for offset in 0..<options.runs where failed.count < options.until {
            if children.count >= options.jobs { failed += ended(&children) }
            let seed = options.seed &+ UInt64(offset)
            children[begin(seed, options)] = seed
        }
        while !children.isEmpty { failed += ended(&children) }
        for line in Coverage.table { Output.line(line) }
        // A few runs cannot take every way.
        let untaken = options.runs >= 1000 ? Coverage.untaken : []
        if !untaken.isEmpty { Output.line("no run took \(untaken)") }
        Output.line("\(options.runs) runs from seed \(options.seed): \(failed.count) with faults \(failed.sorted())")
        exit(failed.isEmpty && untaken.isEmpty ? 0 : 1)
    }

    /// Begins the program anew with hashes that are the same in each process, if it has not been begun so. The order
    /// in dictionaries and sets follows the hashes.
    private static func repeatHashes() {
        guard getenv("SWIFT_DETERMINISTIC_HASHING") == nil else { return }
        setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
        var arguments = CommandLine.arguments.map { strdup($0) } + [nil]
        execv("/proc/self/exe", &arguments)
        Output.line("cannot begin anew: \(String(cString: strerror(errno)))")
        exit(70)
    }

    /// Runs one seed in a process of its own, so that a run that traps is a fault of its seed.
    private static func begin(_ seed: UInt64, _ options: Options) -> pid_t {
        let child = fork()
        guard child == 0 else { return child }
        let folder = "\(options.folder)/transfer-simulation-\(getpid())"
        // A run that was killed may have left a folder of this number.
        Folder.remove(folder)
        let run = options.run(seed, folder)
        let faults = run.go()
        for fault in faults { Output.line("seed \(seed): \(fault)") }
        if options.isVerbose { Output.line("seed \(seed): \(run.world.steps) steps, trace \(run.world.trace)") }
        Folder.remove(folder)
        // Nothing of the process is worth to be taken apart.
        _exit(faults.isEmpty ? 0 : 1)
    }

    /// Waits for the end of a run.
    ///
    /// - Returns: Its seed, if it has faults.
    private static func ended(_ children: inout [pid_t: UInt64]) -> [UInt64] {
        var status: Int32 = 0
        let child = waitpid(-1, &status, 0)
        guard let seed = children.removeValue(forKey: child) else { return [] }
        if status & 0x7F != 0 { Output.line("seed \(seed): the process ended by signal \(status & 0x7F)") }
        return status == 0 ? [] : [seed]
    }

    struct Options {
        var seed: UInt64 = 1
        var runs = 1000
        var isVerbose = false
        /// The number of runs with faults after which no further one begins.
        var until = 20
        /// The number of runs at a time.
        var jobs = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        /// The folder of the runs' files: one in memory.
        var folder = "/dev/shm"

        /// The kind of runs; `nil` lets the seed choose.
        var isFleet: Bool?

        /// Makes the run of a seed.
        func run(_ seed: UInt64, _ folder: String) -> any SimulatedRun {
            var random = SplitMix64(seed: ~seed)
            let isFleet = isFleet ?? (random.next() % 3 == 0)
            return isFleet
                ? FleetRun(seed: seed, folder: folder, isVerbose: isVerbose)
                : Run(seed: seed, folder: folder, isVerbose: isVerbose)
        }

        init(_ words: ArraySlice<String>) {
            var words = words
            while let word = words.popFirst() {
                switch word {
                case "--seed": seed = words.popFirst().flatMap { UInt64($0) } ?? seed
                case "--runs": runs = words.popFirst().flatMap { Int($0) } ?? runs
                case "--verbose": isVerbose = true
                case "--fleet": isFleet = true
                case "--alone": isFleet = false
                case "--until": until = words.popFirst().flatMap { Int($0) } ?? until
                case "--jobs": jobs = words.popFirst().flatMap { Int($0) } ?? jobs
                default:
                    Output.line(
                        "unknown word \(word): transfer-simulation [--seed N] [--runs N] [--until FAULTS] [--jobs N] [--fleet|--alone] [--verbose]"
                    )
                    exit(64)
                }
            }
        }
    }
}

/// A whole run of a seed.
protocol SimulatedRun {
    var world: World { get }

    /// Runs the jobs to their end.
    ///
    /// - Returns: What is wrong, in words; empty for a good run.
    func go() -> [String]
}

/// A run's folder.
enum Folder {
    static func remove(_ path: String) {
        for name in FileText.names(in: path) {
            let child = "\(path)/\(name)"
            if unlink(child) != 0 { remove(child) }
        }
        rmdir(path)
    }
}

/// The standard output, unbuffered: a run that traps has reported all before.
enum Output {
    static func line(_ text: String) {
        let bytes = Array("\(text)\n".utf8)
        _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }
}
