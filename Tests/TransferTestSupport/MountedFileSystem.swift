import Foundation
internal import Glibc

/// A common file system, made for one test by the kernel or by FUSE: on a loop device, in memory, or over a folder.
public struct FileSystemKind: Sendable, CustomStringConvertible, CaseIterable {
    public let name: String
    /// Lines of `sh` that mount the file system at `$AT`. `$IMAGE`, `$LOW` and `$WORK` are free for use.
    let mount: String
    /// The programs that the lines need, and the Debian package of each.
    let programs: [String]
    let package: String
    /// The name in `/proc/filesystems`; for FUSE it is `fuse`.
    let kernel: String
    /// Whether names that differ only in case are equal.
    public let foldsCase: Bool
    /// A character that no name may contain.
    public let refusedCharacter: Character?
    public let isReadOnly: Bool
    /// Whether bytes that were written and not synced are known to outlive their process, because the kernel can
    /// identify the file system's mount. Elsewhere a kill costs the bytes since the last checkpoint.
    public var keepsWrittenBytes: Bool { kernel != "fuse" && kernel != "overlay" }
    /// Whether a file keeps its time until it is written to. A mount of rclone 1.60 changes the time when the file is
    /// read.
    public var keepsTimes: Bool { name != "rclone mount" }
    /// Whether a truncated file can be written again. fusefat refuses that with EPERM.
    public var rewrites: Bool { name != "vfat by FUSE" }

    init(
        _ name: String, kernel: String, package: String = "util-linux", programs: [String] = [],
        foldsCase: Bool = false,
        refuses: Character? = nil, isReadOnly: Bool = false, _ mount: String
    ) {
        self.name = name
        self.kernel = kernel
        self.package = package
        self.programs = programs
        self.foldsCase = foldsCase
        refusedCharacter = refuses
        self.isReadOnly = isReadOnly
        self.mount = mount
    }

    public var description: String { name }

    public static let allCases: [FileSystemKind] = [
        FileSystemKind("tmpfs", kernel: "tmpfs", "mount -t tmpfs tmpfs \"$AT\""),
        FileSystemKind("ramfs", kernel: "ramfs", "mount -t ramfs ramfs \"$AT\""),
        onDisk("ext4", package: "e2fsprogs", make: "mkfs.ext4 -q"),
        onDisk("xfs", package: "xfsprogs", make: "mkfs.xfs -q"),
        onDisk("btrfs", package: "btrfs-progs", make: "mkfs.btrfs -q"),
        onDisk("vfat", package: "dosfstools", make: "mkfs.vfat", foldsCase: true, refuses: ":"),
        onDisk("exfat", package: "exfatprogs", make: "mkfs.exfat", foldsCase: true, refuses: ":"),
        FileSystemKind(
            "overlay", kernel: "overlay",
            """
            mount -t tmpfs tmpfs "$LOW" && mkdir "$LOW/low" "$LOW/up" "$LOW/work"
            mount -t overlay -o "lowerdir=$LOW/low,upperdir=$LOW/up,workdir=$LOW/work" overlay "$AT"
            """),
        FileSystemKind(
            "exfat by FUSE", kernel: "fuse", package: "exfat-fuse exfatprogs",
            programs: ["mkfs.exfat", "mount.exfat-fuse"], foldsCase: true, refuses: ":",
            """
            truncate -s 400M "$IMAGE" && mkfs.exfat "$IMAGE"
            loop=$(losetup -f --show "$IMAGE")
            mount.exfat-fuse "$loop" "$AT"
            losetup -d "$loop"
            """),
        FileSystemKind(
            "vfat by FUSE", kernel: "fuse", package: "fusefat dosfstools", programs: ["mkfs.vfat", "fusefat"],
            foldsCase: true, refuses: ":",
            "truncate -s 400M \"$IMAGE\" && mkfs.vfat \"$IMAGE\" && fusefat -o rw+ \"$IMAGE\" \"$AT\""),
        FileSystemKind(
            "ntfs-3g", kernel: "fuse", package: "ntfs-3g", programs: ["mkfs.ntfs", "ntfs-3g"], refuses: ":",
            "truncate -s 400M \"$IMAGE\" && mkfs.ntfs -q -F -f \"$IMAGE\" && ntfs-3g -o windows_names \"$IMAGE\" \"$AT\""
        ),
        FileSystemKind("bindfs", kernel: "fuse", package: "bindfs", programs: ["bindfs"], "bindfs \"$LOW\" \"$AT\""),
        FileSystemKind(
            "sshfs", kernel: "fuse", package: "sshfs openssh-sftp-server", programs: ["sshfs"],
            """
            printf '#!/bin/sh\\nexec /usr/lib/openssh/sftp-server\\n' > "$WORK/ssh" && chmod 755 "$WORK/ssh"
            sshfs "here:$LOW" "$AT" -o "ssh_command=$WORK/ssh"
            """),
        FileSystemKind(
            "rclone mount", kernel: "fuse", package: "rclone", programs: ["rclone"],
            """
            rclone mount "$LOW" "$AT" --vfs-cache-mode writes --cache-dir "$WORK" --config /dev/null --daemon
            """),
        FileSystemKind(
            "squashfs", kernel: "squashfs", package: "squashfs-tools", programs: ["mksquashfs"], isReadOnly: true,
            """
            echo there > "$LOW/there" && mksquashfs "$LOW" "$IMAGE" -quiet
            mount -o loop,ro "$IMAGE" "$AT"
            """),
    ]

    private static func onDisk(
        _ name: String, package: String, make: String, foldsCase: Bool = false, refuses: Character? = nil
    ) -> FileSystemKind {
        FileSystemKind(
            name, kernel: name, package: package, programs: [String(make.prefix { $0 != " " })], foldsCase: foldsCase,
            refuses: refuses,
            "truncate -s 400M \"$IMAGE\" && \(make) \"$IMAGE\" && mount -t \(name) -o loop \"$IMAGE\" \"$AT\"")
    }

    /// The file systems that can be written.
    public static var writable: [FileSystemKind] { allCases.filter { !$0.isReadOnly } }

    /// Whether file systems can be mounted at all, which needs root and loop devices.
    public static let areMountable = geteuid() == 0 && access("/dev/loop-control", W_OK) == 0

    /// The reason why this file system cannot be mounted here, and whether a package would help.
    public var lack: (reason: String, isPackage: Bool)? {
        let known = (try? String(contentsOfFile: "/proc/filesystems", encoding: .utf8)) ?? ""
        // The first mount of a kind loads its module.
        let isKnown = known.split(whereSeparator: \.isWhitespace).contains { $0 == kernel }
        if !isKnown, !Self.hasModule(kernel) { return ("the kernel has no \(kernel)", false) }
        if kernel == "fuse", access("/dev/fuse", R_OK | W_OK) != 0 { return ("there is no /dev/fuse", false) }
        let missing = programs.filter { Self.find($0) == nil }
        return missing.isEmpty ? nil : ("\(missing.joined(separator: ", ")) (Debian's \(package))", true)
    }

    private static func hasModule(_ name: String) -> Bool {
        var system = utsname()
        guard uname(&system) == 0 else { return false }
        let release = withUnsafeBytes(of: system.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let list = (try? String(contentsOfFile: "/lib/modules/\(release)/modules.dep", encoding: .utf8)) ?? ""
        return list.contains("/\(name).ko")
    }

    private static func find(_ program: String) -> String? {
        ["/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"].map { $0 + program }.first { access($0, X_OK) == 0 }
    }
}

/// A file system that is mounted in a namespace of its own, which ends with this object. Other processes do not see it.
public final class MountedFileSystem: Sendable {
    public let kind: FileSystemKind
    /// The path of the root, for commands in the namespace.
    public let path: String
    private let holder: ChildProcess

    /// - Throws: An error if the commands that make and mount the file system fail.
    public init(_ kind: FileSystemKind, in folder: TemporaryFolder) async throws {
        self.kind = kind
        path = folder.path("mounted")
        for name in ["mounted", "low", "work"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        let script = "{ \(kind.mount)\n} > \"$WORK/log\" 2>&1\nmountpoint -q \"$AT\" && echo mounted\nread line"
        // Daemons of FUSE end with the first process of their namespace.
        var command = ChildProcess.Command(
            "/usr/bin/unshare",
            ["--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", script],
            environment: [
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "AT": path, "IMAGE": folder.path("image"),
                "LOW": folder.path("low"), "WORK": folder.path("work"), "HOME": folder.path("work"),
            ], timeout: .seconds(600))
        command.standardInput = .open
        holder = try ChildProcess.start(command)
        do {
            _ = try await holder.line(.standardOutput) { $0 == "mounted" }
        } catch {
            let log = (try? folder.text("work/log")) ?? ""
            throw TestSupportError("\(kind) cannot be mounted: \(error); \(log)")
        }
    }

    deinit { holder.kill(SIGKILL) }

    /// Returns the command in a form that runs inside the namespace.
    public func command(_ command: TransferCommand) throws -> ChildProcess.Command {
        try inside(try TransferCommand.binary(), command.arguments, command)
    }

    /// Runs lines of `sh` in the namespace, and returns their output.
    @discardableResult
    public func shell(_ script: String, _ command: TransferCommand) async throws -> String {
        let result = try await ChildProcess.start(inside("/bin/sh", ["-c", script], command)).result()
        guard result.exitCode == 0 else { throw TestSupportError("\(script): \(result)") }
        return result.standardOutput
    }

    private func inside(
        _ program: String, _ arguments: [String], _ command: TransferCommand
    ) throws -> ChildProcess.Command {
        // The shell is the child of `unshare`.
        guard let shell = Peer.descendants(of: holder.processID).first else {
            throw TestSupportError("\(kind) is not mounted any more")
        }
        var inside = ChildProcess.Command(
            "/usr/bin/nsenter",
            ["--mount=/proc/\(shell)/ns/mnt", "--wdns=\(command.workingFolder)", program] + arguments,
            environment: command.environment, workingFolder: command.workingFolder, timeout: command.timeout)
        inside.standardInput = command.standardInput
        return inside
    }
}
