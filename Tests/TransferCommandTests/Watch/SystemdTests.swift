import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The units of the repository, as `make install` installs them, under a running systemd.
@Suite(
    .serialized, .enabled(if: TransferCommand.runsHeavyTests), .enabled(if: SystemdStage.isPossible, "needs root"),
    .timeLimit(.minutes(3)))
struct SystemdTests {
    private static let unit = "transfer-watch@cam"
    private static let scripts = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("scripts").path

    private func withStage(_ body: (TestServer, UploadSink, SystemdStage) async throws -> Void) async throws {
        try await withTestServer { server in
            let sink = server.acceptUploads("/in/*")
            try await SystemdStage.with { try await body(server, sink, $0) }
        }
    }

    /// Installs the files on the stage. The machine's own files are its lower layer: further files have to be copied
    /// into it.
    private func install(on stage: SystemdStage, _ setUp: String) async throws {
        let result = try await stage.shell(
            """
            set -eu
            PREFIX=/usr/local '\(Self.scripts)/install' '\(try TransferCommand.binary())'
            \(setUp)
            systemctl daemon-reload
            """)
        try #require(result.exitCode == 0, "\(result)")
    }

    private func jobs(_ folders: [String], _ server: TestServer) -> String {
        let entries = folders.map {
            #"{"folder": "\#($0)", "to": "\#(server.url("/in/{name}"))", "settle": "50ms", "then": {"move": "/srv/done"}}"#
        }
        return #"{"version": 1, "watch": [\#(entries.joined(separator: ", "))]}"#
    }

    @Test func theServiceWatchesIsStartedAgainAndStopsInOrder() async throws {
        try await withStage { server, sink, stage in
            try await install(
                on: stage,
                """
                useradd --system transfer
                mkdir -p /srv/out /srv/more /srv/done /etc/transfer/jobs /etc/systemd/system/transfer-watch@.service.d
                chown transfer /srv/out /srv/more /srv/done
                echo '\(jobs(["/srv/out"], server))' > /etc/transfer/jobs/cam.json
                printf '[Service]\\nReadWritePaths=/srv/out /srv/more /srv/done\\nWatchdogSec=3\\nRestartSec=100ms\\n' \\
                    > /etc/systemd/system/transfer-watch@.service.d/test.conf
                """)
            // Type=notify: the service has begun when the command returns.
            let start = try await stage.shell("systemctl start \(Self.unit)")
            try #require(start.exitCode == 0, "\(start)")
            let status = try await stage.property("StatusText", of: Self.unit)
            #expect(status.hasPrefix("/srv/out: nothing waiting, 0 uploaded since "))

            func expectUpload(of path: String) async throws {
                let name = path.split(separator: "/").last.map(String.init) ?? ""
                let put = try await stage.shell("echo \(name) > \(path) && chown transfer \(path)")
                #expect(put.exitCode == 0, "\(put)")
                try await until("\(path) to be moved") {
                    try await stage.shell("test -e /srv/done/\(name) && ! test -e \(path)").exitCode == 0
                }
                #expect(
                    sink.uploads(to: "/in/\(name)").map { String(decoding: $0.bytes, as: UTF8.self) } == [name + "\n"])
            }
            try await expectUpload(of: "/srv/out/first")

            let reload = try await stage.shell(
                "echo '\(jobs(["/srv/out", "/srv/more"], server))' > /etc/transfer/jobs/cam.json && systemctl reload \(Self.unit)"
            )
            #expect(reload.exitCode == 0, "\(reload)")
            try await expectUpload(of: "/srv/more/second")

            // The faults are a crash, and a process that hangs.
            for (number, signal) in [(1, "KILL"), (2, "STOP")] {
                let pid = try await stage.property("MainPID", of: Self.unit)
                _ = try await stage.shell("kill -\(signal) \(pid)")
                try await until("it is started again", within: .seconds(30)) {
                    let restarts = try await stage.property("NRestarts", of: Self.unit)
                    let state = try await stage.property("ActiveState", of: Self.unit)
                    return restarts == "\(number)" && state == "active"
                }
                try await expectUpload(of: "/srv/out/after-\(signal)")
            }

            let stop = try await stage.shell("systemctl stop \(Self.unit)")
            #expect(stop.exitCode == 0, "\(stop)")
            #expect(try await stage.property("Result", of: Self.unit) == "success")
            #expect(try await stage.property("ExecMainStatus", of: Self.unit) == "0")
            let log = try await stage.shell("journalctl --no-pager --output cat --unit \(Self.unit) _COMM=transfer")
                .standardOutput
            #expect(log.contains("/srv/out/first: uploaded, 6 B in "), "\(log)")
            #expect(log.contains("read again: 1 folder added"), "\(log)")
            #expect(log.contains("/srv/out: stopped, 1 uploaded, nothing left\n"), "\(log)")
            #expect(!log.contains("priority"), "what libdispatch says: \(log)")
            #expect(server.requests.count == 4)
        }
    }

    @Test func aFaultyJobFileIsNotTriedAgain() async throws {
        try await withStage { _, _, stage in
            try await install(
                on: stage,
                """
                useradd --system transfer
                mkdir -p /etc/transfer/jobs
                echo '{"version": 1, "wacth": []}' > /etc/transfer/jobs/cam.json
                """)
            let start = try await stage.shell("systemctl start \(Self.unit)")
            #expect(start.exitCode == 1)
            #expect(try await stage.property("ExecMainStatus", of: Self.unit) == "65")
            #expect(try await stage.property("NRestarts", of: Self.unit) == "0")
            #expect(try await stage.property("ActiveState", of: Self.unit) == "failed")
            let log = try await stage.shell("journalctl --no-pager --output cat --unit \(Self.unit)").standardOutput
            #expect(log.contains(#"error: unknown key "wacth"; did you mean "watch"?"#), "\(log)")
        }
    }

    /// A crash before the end differs: then the service is started again.
    @Test func jobsThatFailedForGoodAreNotStartedAgain() async throws {
        try await withStage { server, _, stage in
            server.serve("/held", .text("held"))
            server.script("/held", [.holdHead])
            let files = "/var/lib/transfer/cam/files"
            let list = ["gone", "held"].map { download(server.url("/" + $0), to: "\(files)/\($0)") }
            try await install(
                on: stage,
                """
                useradd --system transfer
                mkdir -p /etc/transfer/jobs /etc/systemd/system/transfer-watch@.service.d
                echo '{"version": 1, "jobs": [\(list.joined(separator: ", "))]}' > /etc/transfer/jobs/cam.json
                printf '[Service]\\nRestartSec=100ms\\n' > /etc/systemd/system/transfer-watch@.service.d/test.conf
                """)
            let start = try await stage.shell("systemctl start \(Self.unit)")
            try #require(start.exitCode == 0, "\(start)")
            // One job has failed and the other is under way.
            try await server.waitForAnswers(1)
            try await server.waitForHeld(1)
            let pid = try await stage.property("MainPID", of: Self.unit)
            let kill = try await stage.shell("kill -KILL \(pid)")
            try #require(kill.exitCode == 0, "\(kill)")
            try await until("it has ended by itself", within: .seconds(30)) {
                try await stage.property("ActiveState", of: Self.unit) == "failed"
            }
            #expect(try await stage.property("Result", of: Self.unit) == "exit-code")
            #expect(try await stage.property("ExecMainStatus", of: Self.unit) == "1")
            #expect(try await stage.property("NRestarts", of: Self.unit) == "1", "by the crash alone")
            #expect(try await stage.shell("cat \(files)/held").standardOutput == "held")
            #expect(server.requests(to: "/gone").count == 2 && server.requests(to: "/held").count == 2)
        }
    }

    @Test func aUsersOwnManagerRunsItInTheirHome() async throws {
        try await withStage { server, sink, stage in
            try await install(
                on: stage,
                """
                useradd --create-home alice
                user=$(id -u alice)
                install -d -o alice -m 700 /run/user/$user
                install -d -o alice /srv/done ~alice/out ~alice/.config ~alice/.config/transfer ~alice/.config/transfer/jobs
                echo '\(jobs(["out"], server))' > ~alice/.config/transfer/jobs/cam.json
                cat > /etc/systemd/system/alice.service <<UNIT
                [Service]
                Type=notify
                User=alice
                Environment=XDG_RUNTIME_DIR=/run/user/$user HOME=/home/alice
                ExecStart=/lib/systemd/systemd --user
                Delegate=yes
                UNIT
                """)
            func asAlice(_ script: String) async throws -> ProcessResult {
                try await stage.shell(
                    "cd ~alice && HOME=/home/alice XDG_RUNTIME_DIR=/run/user/$(id -u alice) setpriv --reuid alice --regid alice --clear-groups bash -c '\(script)'"
                )
            }
            let manager = try await stage.shell("systemctl start alice")
            try #require(manager.exitCode == 0, "\(manager)")
            let start = try await asAlice("systemctl --user start \(Self.unit) && echo x > out/file")
            try #require(start.exitCode == 0, "\(start)")
            try await until("the file to be moved") { try await stage.shell("test -e /srv/done/file").exitCode == 0 }
            #expect(sink.uploads(to: "/in/file").count == 1)
            // The queue is the one that the user's own commands use.
            let status = try await asAlice("transfer status")
            #expect(status.standardOutput.contains("watch:/home/alice/out"), "\(status)")
            let stop = try await asAlice(
                "systemctl --user stop \(Self.unit); systemctl --user show --property Result,ExecMainStatus \(Self.unit)"
            )
            #expect(stop.standardOutput == "Result=success\nExecMainStatus=0\n", "\(stop)")
        }
    }
}
