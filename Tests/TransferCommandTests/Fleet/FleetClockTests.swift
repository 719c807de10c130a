import Foundation
import Glibc
import Testing
import TransferTestSupport

/// Machines with wrong clocks: leases, waits and pauses use the database's clock and monotonic clocks.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct FleetClockTests {
    /// A library that moves the wall clock of the process that preloads it, and no other clock.
    private static let shift = """
        #define _GNU_SOURCE
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>
        static time_t shift(void) { const char *by = getenv("CLOCK_SHIFT"); return by ? atol(by) : 0; }
        int clock_gettime(clockid_t clock, struct timespec *now) {
            int code = syscall(SYS_clock_gettime, clock, now);
            if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += shift();
            return code;
        }
        int gettimeofday(struct timeval *now, void *zone) {
            int code = syscall(SYS_gettimeofday, now, zone);
            if (code == 0) now->tv_sec += shift();
            return code;
        }
        time_t time(time_t *where) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            if (where) *where = now.tv_sec;
            return now.tv_sec;
        }
        """

    private let fleet: FleetPlace
    private let server: NginxServer

    init() async throws {
        fleet = try await FleetPlace()
        try fleet.folder.write(Self.shift, to: "shift.c")
        var compiler = ChildProcess.Command(
            "/usr/bin/env",
            ["clang", "-shared", "-fPIC", "-o", fleet.folder.path("shift.so"), fleet.folder.path("shift.c")])
        compiler.environment = ProcessInfo.processInfo.environment
        let built = try await ChildProcess.start(compiler).result()
        #expect(built.exitCode == 0, "\(built)")
        var options = NginxServer.Options()
        options.limitRate = "2k"
        server = try await NginxServer.start(options: options)
        for number in 0..<16 {
            var bytes = SampleBytes(seed: UInt64(number))
            try bytes.next(3000).write(to: URL(fileURLWithPath: "\(server.root)/\(number)"))
        }
        try fleet.place.jobs((0..<16).map { download(server.url("/\($0)"), to: "in/\($0)", #""id": "j\#($0)""#) })
    }

    private func command(_ arguments: [String], days: Int) -> TransferCommand {
        var command = fleet.command(arguments)
        let others = command.environment["LD_PRELOAD"].map { "\($0):" } ?? ""
        command.environment["LD_PRELOAD"] = others + fleet.folder.path("shift.so")
        command.environment["CLOCK_SHIFT"] = String(days * 86_400)
        return command
    }

    private func worker(_ name: String, days: Int) throws -> ChildProcess {
        _ = try fleet.folder.folder(name)
        let options = ["-d", name, "--allow-private", "--lease", "3s", "-j", "4", "--json", "-v"]
        return try command(["work", "--queue", fleet.queue] + options, days: days).start()
    }

    @Test func clocksThatDifferByADayLoseNothingAndTakeNothingFromALivingWorker() async throws {
        let (early, late) = (try worker("early", days: -1), try worker("late", days: 1))
        for worker in [early, late] { try await worker.begins() }
        let brought = try await command(["run", "jobs.json", "--detach", "--queue", fleet.queue], days: 1).run()
        #expect(brought.exitCode == 0, "\(brought)")
        let started = try await early.event("job.started")
        let shown = try #require(started["time"]?.string)
        #expect(!shown.hasPrefix(String(Date().ISO8601Format().prefix(10))), "its clock is another one")
        try await late.event("job.started")
        let leases = try await fleet.workers().map { $0["lease"]?.double ?? 0 }
        #expect(leases.count == 2 && leases.allSatisfy { $0 > 0 && $0 <= 3 }, "\(leases)")
        late.kill(SIGKILL)
        _ = try await late.result()
        let wait = try await command(["wait", "batch", "--queue", fleet.queue], days: -1).run()
        #expect(wait.exitCode == 0, "\(wait)")
        let list = try await fleet.status("batch", "--jobs")
        #expect(list.count == 16 && list.allSatisfy { $0["state"]?.string == "done" }, "\(list)")
        try await fleet.stop(early)
        let files = try ["early/in", "late/in"].flatMap { folder in
            try fleet.folder.files(below: folder).filter { !$0.hasSuffix(".part") }
        }
        #expect(Set(files).count == 16, "\(files)")
    }
}
