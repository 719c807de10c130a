/// The file systems that other machines change without notice by the kernel.
enum FileSystemKind {
    /// Returns the name of such a file system.
    ///
    /// - Parameter number: The number that statfs(2) gives.
    /// - Returns: The usual name; `nil` for a file system that inotify(7) works on, such as an overlay, which reports
    ///   changes made through it.
    static func remoteName(_ number: Int64) -> String? {
        switch number & 0xFFFF_FFFF {
        case 0x6969: "NFS"
        case 0x517B, 0xFE53_4D42, 0xFF53_4D42: "SMB"
        case 0x6573_5546: "FUSE"
        case 0x0102_1997: "9P"
        case 0x5346_414F, 0x6B41_4653: "AFS"
        case 0x00C3_6400: "Ceph"
        case 0x0BD0_0BD0: "Lustre"
        case 0x7375_7245: "Coda"
        case 0x0116_1970: "GFS2"
        case 0x7461_636F: "OCFS2"
        case 0x786F_4256: "vboxsf"
        case 0x7C7C_6673: "prl_fs"
        default: nil
        }
    }
}
