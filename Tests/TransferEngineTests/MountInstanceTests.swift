import Foundation
import Glibc
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferEngine

/// Two mounts of a file system are distinguished, or no identity is claimed.
@Suite struct MountInstanceTests {
    /// A disk with one partition: 8:0 and 8:1.
    private func makeSys(_ folder: TemporaryFolder, sequence: String = "41\n") throws {
        for name in ["devices/disk0/part1", "dev/block", "fs/ext4/part1", "fs/xfs"] { try folder.folder(name) }
        try folder.write(sequence, to: "devices/disk0/diskseq")
        symlink("../../devices/disk0", folder.path("dev/block/8:0"))
        symlink("../../devices/disk0/part1", folder.path("dev/block/8:1"))
    }

    private func name(_ folder: TemporaryFolder, _ kind: UInt32, device: UInt64 = 0x801) -> String? {
        MountInstance.name(device: device, kind: kind, sys: folder.path)
    }

    @Test func aNewNodeOfTheFileSystemIsANewLife() throws {
        let folder = try TemporaryFolder("sys")
        try makeSys(folder)
        let first = try #require(name(folder, MountInstance.Kind.ext4))
        #expect(first.hasPrefix("8:1 ext4 ") && name(folder, MountInstance.Kind.ext4) == first)
        // The new node is made beside the old one, so that it has another number.
        try folder.folder("fs/ext4/new")
        #expect(rmdir(folder.path("fs/ext4/part1")) == 0)
        #expect(Glibc.rename(folder.path("fs/ext4/new"), folder.path("fs/ext4/part1")) == 0)
        let second = try #require(name(folder, MountInstance.Kind.ext4))
        #expect(second != first)
    }

    @Test func aRemovableDiskIsIdentifiedByItsSequenceNumber() throws {
        let folder = try TemporaryFolder("sys")
        try makeSys(folder)
        #expect(name(folder, MountInstance.Kind.exfat) == "8:1 disk 41")
        #expect(name(folder, MountInstance.Kind.msdos, device: 0x800) == "8:0 disk 41")
        try folder.write("42\n", to: "devices/disk0/diskseq")
        #expect(name(folder, MountInstance.Kind.exfat) == "8:1 disk 42")
    }

    /// A file in memory is lost with its mount.
    @Test(arguments: [MountInstance.Kind.tmpfs, MountInstance.Kind.ramfs]) func aFileSystemInMemoryHasOneLife(
        _ kind: UInt32
    ) {
        #expect(MountInstance.name(device: 40, kind: kind, sys: "/none") == "0:40 memory")
    }

    @Test(
        arguments: [
            (MountInstance.Kind.ramfs, true), (MountInstance.Kind.ext4, true), (MountInstance.Kind.nfs, true),
            (MountInstance.Kind.msdos, false), (MountInstance.Kind.exfat, false), (0x6573_5546, false), (0, false),
        ] as [(UInt32, Bool)])
    func aFilesNumberIsItsOwnOrMadeUp(_ kind: UInt32, _ isKept: Bool) {
        #expect(MountInstance.keepsInodeNumbers(kind: kind) == isKept)
    }

    /// The device numbers of its subvolumes are reused, so the UUID identifies the file system.
    @Test func aBtrfsIsIdentifiedByItsPool() throws {
        let folder = try TemporaryFolder("sys")
        try makeSys(folder)
        try folder.folder("fs/btrfs/uuid")
        func name(_ pool: String?) -> String? {
            MountInstance.name(device: 40, kind: MountInstance.Kind.btrfs, pool: pool, sys: folder.path)
        }
        #expect(name("uuid")?.hasPrefix("uuid btrfs ") == true)
        #expect(name("other") == nil && name(nil) == nil)
    }

    /// NFS, FUSE, a disk that /sys does not know, and a file system without a folder there.
    @Test func anUnidentifiableMountHasNoIdentity() throws {
        let folder = try TemporaryFolder("sys")
        try makeSys(folder)
        for kind in [0x6969, 0x6573_5546, 0xFF53_4D42, 0x794C_7630] as [UInt32] { #expect(name(folder, kind) == nil) }
        #expect(name(folder, MountInstance.Kind.ext4, device: 0x802) == nil)
        #expect(name(folder, MountInstance.Kind.ext4, device: 5) == nil)
        #expect(name(folder, MountInstance.Kind.xfs) == nil)
        #expect(name(folder, MountInstance.Kind.tmpfs, device: 5) == "0:5 memory")
    }

    @Test func filesOfOneFolderShareALife() throws {
        let folder = try TemporaryFolder("part")
        let one = try PartFile.open(folder.path("x.part"))
        let other = try PartFile.open(folder.path("y.part"))
        #expect(one.mount == other.mount)
        if let mount = one.mount { #expect(mount.hasPrefix(BootID.current + " ")) }
    }

    /// An interrupted download loses nothing there either.
    @Test func anInterruptedDownloadIsSecured() throws {
        let folder = try TemporaryFolder("part")
        let part = try PartFile.open(folder.path("x.part"))
        let record = ResumeData(
            url: "u", validator: nil, total: 9, written: ByteRanges(0..<5), bootID: "", mount: part.mount)
        #expect(part.secured(record).synced.prefixLength == (part.mount == nil ? 5 : 0))
    }
}
