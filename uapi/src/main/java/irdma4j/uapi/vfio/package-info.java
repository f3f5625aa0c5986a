/** PCI functions through the kernel's VFIO. */
@NullMarked
package irdma4j.uapi.vfio;

import org.jspecify.annotations.NullMarked;
