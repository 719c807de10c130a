import TransferCore

/// A congestion control: `auto`, `system`, or a name as the kernel has it.
struct CongestionArgument: OptionValue {
    let control: CongestionControl

    init?(argument: String) {
        guard let control = CongestionControl(argument) else { return nil }
        self.control = control
    }

    static let form = "auto, system, or the name of a congestion control, such as bbr"
}
