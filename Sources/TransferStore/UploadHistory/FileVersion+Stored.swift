import TransferCore
package import TransferWatch

extension FileVersion {
    /// The device as the upload history has it; 0 where it is unknown.
    package var deviceBits: Int64 { Int64(bitPattern: stamp.device ?? 0) }
    /// The inode as the upload history has it; 0 where it is unknown.
    package var inodeBits: Int64 { Int64(bitPattern: stamp.inode ?? 0) }
}
