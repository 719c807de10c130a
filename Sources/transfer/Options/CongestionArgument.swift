import TransferCore

/// A congestion control: `auto`, `system`, or the kernel's name of an algorithm.
struct CongestionArgument: OptionValue {
    let control: CongestionControl

    init?(argument: String) {
        guard let control = CongestionControl(argument) else { return nil }
        self.control = control
    }

    static let form = "auto, system, or the name of a congestion control, such as bbr"
}
