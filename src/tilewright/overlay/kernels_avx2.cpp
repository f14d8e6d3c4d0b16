namespace tilewright::overlay {
struct KernelSet;
const KernelSet* avx2_kernels();
const KernelSet* avx2_kernels() { return nullptr; }
}  // namespace tilewright::overlay
