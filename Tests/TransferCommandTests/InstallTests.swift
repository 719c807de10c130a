import Foundation
import Testing
import TransferTestSupport

/// The files that `make install` installs, and systemd's verification of the units.
@Suite struct InstallTests {
    private static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func install(_ arguments: [String], into folder: TemporaryFolder, prefix: String) async throws
        -> ProcessResult
    {
        let environment = ["PATH": "/usr/bin:/bin", "PREFIX": prefix, "DESTDIR": folder.path("root")]
        let script = Self.root.appendingPathComponent("scripts/install").path
        return try await ChildProcess.start(.init(script, arguments, environment: environment)).result()
    }

    @Test func installsEverythingBeneathThePrefixAndRemovesIt() async throws {
        let folder = try TemporaryFolder("install")
        let binary = try folder.write("#!/bin/sh\necho \"#!/bin/$2\"\necho \"$1 $2\"\n", to: "transfer")
        let server = try folder.write("#!/bin/sh\n", to: "transfer-server")
        for program in [binary, server] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        }
        let result = try await install([binary], into: folder, prefix: "/opt/x")
        #expect(result.exitCode == 0, "\(result)")
        #expect(
            try folder.files(below: "root") == [
                "opt/x/bin/transfer", "opt/x/lib/systemd/system/transfer-run@.service",
                "opt/x/lib/systemd/system/transfer-run@.timer", "opt/x/lib/systemd/system/transfer-serve.service",
                "opt/x/lib/systemd/system/transfer-serve.socket", "opt/x/lib/systemd/system/transfer-watch@.service",
                "opt/x/lib/systemd/system/transfer-work@.service",
                "opt/x/lib/systemd/user/transfer-serve.service", "opt/x/lib/systemd/user/transfer-watch@.service",
                "opt/x/lib/sysusers.d/transfer.conf", "opt/x/libexec/transfer/transfer-server",
                "opt/x/share/bash-completion/completions/transfer",
                "opt/x/share/fish/vendor_completions.d/transfer.fish", "opt/x/share/man/man1/transfer.1",
                "opt/x/share/man/man5/transfer-config.5", "opt/x/share/man/man5/transfer-jobs.5",
                "opt/x/share/transfer/transfer-config.schema.json", "opt/x/share/transfer/transfer-jobs.schema.json",
                "opt/x/share/zsh/site-functions/_transfer",
            ])
        // A file that a shell sources has no line that names a shell.
        #expect(
            try folder.text("root/opt/x/share/bash-completion/completions/transfer")
                == "--generate-completion-script bash\n")
        let unit = try folder.text("root/opt/x/lib/systemd/system/transfer-watch@.service")
        #expect(unit.contains("\nExecStart=/opt/x/bin/transfer run ") && !unit.contains("/usr/local/bin"))
        #expect(try await install(["--remove"], into: folder, prefix: "/opt/x").exitCode == 0)
        #expect(try folder.files(below: "root") == [])
    }

    @Test func theCopyIsStripped() async throws {
        let folder = try TemporaryFolder("install")
        let built = try TransferCommand.binary()
        #expect(try await install([built], into: folder, prefix: "/opt").exitCode == 0)
        let installed = folder.path("root/opt/bin/transfer")
        let version = try await ChildProcess.start(.init(installed, ["--version"])).result()
        #expect(version.standardOutput.hasPrefix("transfer "), "\(version)")
        #expect(try Self.size(installed) < Self.size(built))
    }

    private static func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    @Test func nothingIsInstalledBeforeItIsBuilt() async throws {
        let folder = try TemporaryFolder("install")
        let result = try await install([folder.path("nothing")], into: folder, prefix: "/usr/local")
        #expect(result.exitCode == 66 && result.standardError.hasSuffix("run make build first\n"), "\(result)")
        #expect(try await install(["x"], into: folder, prefix: "usr").exitCode == 64)
        #expect(!folder.exists("root"))
    }

    /// The test is skipped without systemd.
    @Test(arguments: [
        "system/transfer-watch@.service", "user/transfer-watch@.service", "system/transfer-serve.service",
        "user/transfer-serve.service", "system/transfer-work@.service", "system/transfer-run@.service",
        "system/transfer-run@.timer",
    ])
    func systemdFindsNoFaultInAUnit(_ name: String) async throws {
        let analyze = "/usr/bin/systemd-analyze"
        guard FileManager.default.isExecutableFile(atPath: analyze) else { return }
        let folder = try TemporaryFolder("unit")
        // systemd checks whether the command exists, by a path that needs no quotes.
        let binary = folder.path("transfer")
        try FileManager.default.createSymbolicLink(
            atPath: binary, withDestinationPath: try TransferCommand.binary())
        // A timer is checked with the service that it starts.
        var units: [String] = []
        for name in [name, name.replacingOccurrences(of: ".timer", with: ".service")] {
            let text = try String(
                contentsOf: Self.root.appendingPathComponent("systemd/\(name)"), encoding: .utf8)
            let file = name.split(separator: "/").last.map(String.init) ?? name
            units.append(
                try folder.write(
                    text.replacingOccurrences(of: "/usr/local/bin/transfer", with: binary),
                    to: file.replacingOccurrences(of: "@.", with: "@test.")))
        }
        try folder.folder("run")
        let environment = ["PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": folder.path("run"), "HOME": folder.path]
        let kind = name.prefix { $0 != "/" }
        let command = ChildProcess.Command(
            analyze, ["verify", "--\(kind)", "--man=no"] + Set(units).sorted(), environment: environment)
        let result = try await ChildProcess.start(command).result()
        #expect(result.exitCode == 0 && result.standardError.isEmpty, "\(result)")
    }

    /// A service that is started again after a hang has to say that it is alive.
    @Test(arguments: [
        "system/transfer-watch@", "system/transfer-serve", "system/transfer-work@", "user/transfer-serve",
    ])
    func aServiceWithAWatchdogNotifies(_ name: String) throws {
        let text = try String(
            contentsOf: Self.root.appendingPathComponent("systemd/\(name).service"), encoding: .utf8)
        #expect(text.contains("\nType=notify\n") && text.contains("\nWatchdogSec=60\n"))
    }
}
